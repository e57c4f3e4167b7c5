"""The ways of the docs from nothing to an answer, as make check-deploy follows them. Scripts, not cases of pytest."""
