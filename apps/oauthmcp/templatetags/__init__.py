"""What templates of other apps show of this one."""
