"""What every door and every page shares."""
