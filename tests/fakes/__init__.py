"""Platforms that are none: they answer as the real ones do, over real HTTP on loopback."""
