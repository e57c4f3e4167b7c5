"""What concerns an installation as a whole: keys that are replaced, backups."""
