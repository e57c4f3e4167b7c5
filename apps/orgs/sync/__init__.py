"""How an organization's rows get here: a source tells a Snapshot (base), and apply makes the rows match it."""
