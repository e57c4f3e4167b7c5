"""Made-up organizations in any number, to see what Porthole does with as many rows."""
