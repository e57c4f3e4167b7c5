"""The door of MCP against the specification's own conformance suite."""
