"""What happens to callers when peers stall, or something that Porthole needs stands still, is full, damaged or away."""
