"""How dates are written, by language: what settings alone cannot say to Django."""
