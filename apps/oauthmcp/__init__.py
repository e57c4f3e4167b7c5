"""The OAuth 2.1 authorization server, and bearer authentication of requests."""
