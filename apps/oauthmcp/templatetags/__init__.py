"""What templates ask of authorizations."""
