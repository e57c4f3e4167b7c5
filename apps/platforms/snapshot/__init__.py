"""The Snapshot, what it must be, and how it becomes rows."""
