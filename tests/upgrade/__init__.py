"""Whether a database that an earlier release made still answers the same: run by bin/check-upgrade, not by pytest."""
