"""Commands that every installation has."""
