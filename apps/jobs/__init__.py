"""Work in the background: what is due, and the workers that do it."""
