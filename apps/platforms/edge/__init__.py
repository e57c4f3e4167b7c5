"""The prober: looks at the domains of applications from outside, every minute."""
