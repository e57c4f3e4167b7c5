"""People: how they sign in, second factors, invitations, mail, and the operators' site."""
