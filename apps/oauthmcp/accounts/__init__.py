"""How people sign in: passwords, second factors, invitations. The pages under /account/."""
