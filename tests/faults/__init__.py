"""What happens to callers when something that Porthole needs stands still, is full, damaged or away."""
