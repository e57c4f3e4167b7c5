"""The MCP door: POST /mcp, the same tools as JSON-RPC, for today's clients and those of the newest revision."""
