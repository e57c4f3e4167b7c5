"""How gunicorn serves Porthole: no thread ever waits for a client."""
