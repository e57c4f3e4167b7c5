"""The form of a new token for scripts."""

import secrets
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django import forms
from django.utils import timezone

from apps.oauthmcp.consent import SCOPE_DESCRIPTIONS
from apps.oauthmcp.names import MAX_NAME, clean
from apps.oauthmcp.script_tokens.making import MAX_LIFETIME
from apps.orgs.models import Membership

DAY = timedelta(days=1)
LIFETIMES = {"7": "In a week", "30": "In 30 days", "90": "In 90 days", "365": "In a year"}
ON_A_DAY = "day"
# Nobody watches what a script does with it, so this says more than the consent page.
SENTENCES = {
    scope: sentence
    for scope, (_, sentence) in SCOPE_DESCRIPTIONS.items()
} | {
    "files:read": "All source code of every app in this organization: whoever has the token can read it. Only files "
    "that hold keys or passwords by nature are left out.",
}  # fmt: skip


class NewTokenForm(forms.Form):
    """`form` is the same each time this very form is sent."""

    use_required_attribute = False

    form = forms.CharField(
        max_length=64,
        widget=forms.HiddenInput,
        error_messages={"required": "A part of this page was missing. Send it once more."},
    )
    name = forms.CharField(max_length=MAX_NAME, error_messages={"required": "Give it a name."})
    organization = forms.TypedChoiceField(
        coerce=int,
        error_messages={
            "required": "Choose the organization that it may look at.",
            "invalid_choice": "Choose an organization of yours that allows such tokens.",
        },
    )
    scope = forms.MultipleChoiceField(
        choices=[(scope, title) for scope, (title, _) in SCOPE_DESCRIPTIONS.items()],
        error_messages={
            "required": "Tick at least one thing that it may see.",
            "invalid_choice": "Tick only what there is.",
        },
    )
    end = forms.ChoiceField(
        choices=[*LIFETIMES.items(), (ON_A_DAY, "On this day")],
        initial="30",
        error_messages={"required": "Choose when it ends.", "invalid_choice": "Choose when it ends."},
    )
    day = forms.DateField(required=False, error_messages={"invalid": "Write the day like 2027-01-31."})

    def __init__(self, *args: Any, memberships: list[Membership], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(str(membership.pk), membership.organization.name) for membership in memberships]
        organization: Any = self.fields["organization"]
        organization.choices = choices
        if len(choices) == 1:
            organization.initial = choices[0][0]

    @property
    def id(self) -> str:
        """What `form` sends."""
        return self.data["form"] if self.is_bound and "form" not in self.errors else secrets.token_urlsafe(24)

    @property
    def first_day(self) -> Any:
        return timezone.now().date() + DAY

    @property
    def last_day(self) -> Any:
        return (timezone.now() + MAX_LIFETIME).date() - DAY

    def scopes(self) -> list[tuple[str, str, str, bool]]:
        """Of each: its name, title, what it shows, and whether it is ticked. None is, to begin with."""
        ticked = self["scope"].value() or []
        return [(scope, title, SENTENCES[scope], scope in ticked) for scope, (title, _) in SCOPE_DESCRIPTIONS.items()]

    def clean_name(self) -> str:
        name = clean(self.cleaned_data["name"])
        if not name:
            raise forms.ValidationError("Give it a name in which something is to be seen.")
        return name

    def clean(self) -> dict[str, Any]:
        """Adds `expires_at`. A day is over at midnight, UTC."""
        values: dict[str, Any] = super().clean() or {}
        match values.get("end"):
            case None:
                pass
            case "day":
                day = values.get("day")
                if day is None and "day" not in self.errors:
                    self.add_error("day", "Choose the day on which it ends.")
                elif day is not None and not self.first_day <= day <= self.last_day:
                    self.add_error("day", "Choose a day from tomorrow on, and at most a year from now.")
                elif day is not None:
                    values["expires_at"] = datetime.combine(day + DAY, time(), UTC)
            case days:
                values["expires_at"] = timezone.now() + timedelta(days=int(days))
        return values
