"""The world outside: addresses, where this server may connect to, encryption. No models."""
