"""How an organization's rows get here: a platform tells a Snapshot, and applying it makes the rows match."""
