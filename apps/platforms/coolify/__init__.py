"""Coolify, from 4.0 on: read with its REST API, and its previews with its MCP server where that is switched on."""
