"""What templates of other applications show of this one."""
