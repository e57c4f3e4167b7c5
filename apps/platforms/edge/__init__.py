"""The prober: checks the domains of applications from outside, every minute."""
