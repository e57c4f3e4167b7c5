"""Who owns what, and how it gets here."""
