"""Tokens for scripts: made by a member, shown once, each an authorization of the built-in client."""
