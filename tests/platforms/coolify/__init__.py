"""The connector for Coolify, against a fake one."""
