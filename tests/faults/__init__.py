"""Stalled peers, dead databases, full disks, damage: what must not stop the others."""
