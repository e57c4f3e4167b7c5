"""Tests of how rows get here."""
