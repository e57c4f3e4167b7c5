"""What operators type: `manage.py <file name>`."""
