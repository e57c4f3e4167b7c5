"""What Porthole publishes: read-only tools, and the doors to them."""
