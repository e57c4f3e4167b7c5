"""What operators see of what organizations own, one file per theme.

Django finds this package by its name; importing the modules registers what is in them.
"""

from apps.orgs.admin import deployments, names, projects

__all__ = ["deployments", "names", "projects"]
