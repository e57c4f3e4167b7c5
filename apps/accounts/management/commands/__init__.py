"""What operators type about people: `manage.py <file name>`."""
