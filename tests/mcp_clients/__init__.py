"""Clients that others wrote, against /mcp."""

import pytest

pytest.register_assert_rewrite("tests.mcp_clients.lines", "tests.mcp_clients.wire")
