"""Documentation: chunks of pages, their index, and queries."""
