"""What templates of other applications ask of this one."""
