"""Backups: all rows of a database in one compressed file of text, the same whichever database they come from."""
