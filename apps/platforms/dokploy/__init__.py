"""Dokploy 0.24 to 0.30: what one of its organizations has, read with a key of one of its members."""

from apps.platforms.dokploy.connector import DokployConnector

__all__ = ["DokployConnector"]
