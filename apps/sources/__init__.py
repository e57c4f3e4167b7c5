"""What tools read besides rows: repositories and documentation."""
