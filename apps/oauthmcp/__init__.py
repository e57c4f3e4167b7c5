"""Who may ask: bearer tokens and, with them, which organization a request sees."""
