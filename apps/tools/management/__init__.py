"""Commands of the tools application."""
