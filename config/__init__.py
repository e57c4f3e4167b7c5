"""How Porthole is wired, and nothing else."""
