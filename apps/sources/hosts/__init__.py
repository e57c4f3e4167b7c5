"""Git hosts and their APIs: whose credentials an operator gave, what they can read, and what git sends with them."""
