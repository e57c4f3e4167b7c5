"""Porthole's applications."""
