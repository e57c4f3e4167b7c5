"""Commands about how Porthole is put together."""
