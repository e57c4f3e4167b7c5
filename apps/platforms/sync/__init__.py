"""Reads platforms by their connectors, and makes the rows match what was read."""
