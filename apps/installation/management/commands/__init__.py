"""What operators type about platforms: `manage.py <file name>`."""
