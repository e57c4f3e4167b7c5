"""Templates: synced ones are read-only; the installation's own and those entered manually are edited here."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from apps.orgs.admin.readonly import OwnedAdmin, is_by_hand
from apps.orgs.models import Template
from apps.orgs.text import fold
from apps.platforms.snapshot.bounds import TAG, Url

ADDRESSES = ("logo_url", "github_url", "website_url", "docs_url")


class TemplateForm(forms.ModelForm):
    """Tags are typed as people write them, and stored between commas."""

    tags = forms.CharField(max_length=600, required=False, help_text="Separated by commas, such as: cms, blog")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "tags" in self.fields:
            self.initial["tags"] = ", ".join(_words(self.initial.get("tags", "")))

    def clean_tags(self) -> str:
        words = sorted({fold(word) for word in _words(self.cleaned_data["tags"])})
        if wrong := [word for word in words if not TAG.fullmatch(word)]:
            raise forms.ValidationError(f"A tag has letters, digits and hyphens only. Not a tag: {', '.join(wrong)}")
        return f",{','.join(words)}," if words else ","

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        for name in ADDRESSES:  # the same rule as for what platforms tell
            if (address := cleaned.get(name)) and (problem := Url(500).problem(address)):
                self.add_error(name, f"This {problem}.")
        return cleaned


@admin.register(Template)
class TemplateAdmin(OwnedAdmin):
    ids = {"tpl": "id"}
    form = TemplateForm
    list_display = ("name", "version", "organization", "platform")
    list_select_related = ("organization", "platform")
    fields = (
        "organization", "name", "description", "version", "tags", "logo_url", "github_url", "website_url", "docs_url",
        "platform", "external_id", "id",
    )  # fmt: skip
    autocomplete_fields = ("organization",)

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return self.fields[:-3] if obj is None else self.fields

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        names = super().get_readonly_fields(request, obj)
        return [name for name in names if name != "organization"] if obj is None else names

    def has_add_permission(self, request: HttpRequest) -> bool:
        return admin.ModelAdmin.has_add_permission(self, request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return (obj is None or is_by_hand(obj)) and admin.ModelAdmin.has_change_permission(self, request, obj)


def _words(tags: str) -> list[str]:
    return [word.strip() for word in tags.split(",") if word.strip()]
