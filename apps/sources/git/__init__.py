"""Repositories: fetched by git into mirrors, read by pygit2."""
