"""Fields of forms in the admin."""

from typing import Any

from django import forms

from apps.orgs.models import Organization


class OrganizationField(forms.SlugField):
    """An organization, by its slug."""

    def __init__(self) -> None:
        super().__init__(max_length=63, help_text="Its slug.")

    def clean(self, value: Any) -> Organization:
        """Raises ValidationError."""
        organization = Organization.objects.filter(slug=super().clean(value)).first()
        if organization is None:
            raise forms.ValidationError("There is no such organization.")
        return organization
