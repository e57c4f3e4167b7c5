"""What make bench runs."""
