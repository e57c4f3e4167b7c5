"""The form that gives Porthole credentials for a git host. They go in and never come out."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from apps.orgs.admin.fields import OrganizationField
from apps.orgs.models import SourceConnection
from apps.sources.connecting import (
    NotConnected,
    Tried,
    Wanted,
    disconnect,
    lines_of,
    store,
    try_credentials,
    warnings_of,
)
from apps.sources.hosts.credentials import MAX_SECRET, Credentials
from apps.sources.hosts.types import kinds_of
from apps.sources.models import SourceCredentials

TYPES = (
    ("github", "GitHub"), ("gitlab", "GitLab"), ("gitea", "Gitea or Forgejo"), ("bitbucket", "Bitbucket"),
    ("git", "Another git server"),
)  # fmt: skip


class ConnectForm(forms.Form):
    organization = OrganizationField()
    type = forms.ChoiceField(choices=TYPES, label="Git host")
    base_url = forms.CharField(
        max_length=500, required=False, label="URL",
        help_text="Of a host of your own, such as https://git.example.com. Empty for github.com, gitlab.com and so on.",
    )  # fmt: skip
    kind = forms.ChoiceField(choices=SourceCredentials.Kind.choices, label="Credentials")
    token = forms.CharField(
        max_length=MAX_SECRET, required=False, widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="Make one that only reads the contents of repositories. Stored encrypted, and never shown again.",
    )  # fmt: skip
    username = forms.CharField(
        max_length=200, required=False, label="User name", help_text="Of a deploy token, or where a token needs one."
    )
    app_id = forms.CharField(max_length=100, required=False, label="App ID", help_text="Of a GitHub App.")
    installation_id = forms.CharField(
        max_length=20, required=False, label="Installation ID",
        help_text="Of a GitHub App: the number at the end of the address of its installation's page.",
    )  # fmt: skip
    private_key = forms.CharField(
        max_length=MAX_SECRET, required=False, strip=True, label="Private key",
        widget=forms.Textarea(attrs={"rows": 4, "autocomplete": "off", "spellcheck": "false"}),
        help_text="Of a GitHub App: the content of the .pem file. Stored encrypted, and never shown again.",
    )  # fmt: skip
    name = forms.CharField(max_length=100, required=False, help_text="Otherwise the name of the account.")
    is_default = forms.BooleanField(required=False, label="Default", help_text="The organization's default connection.")

    def __init__(self, *args: Any, connection: SourceConnection | None = None, **kwargs: Any) -> None:
        """`connection` is one that is there: it gets these credentials."""
        super().__init__(*args, **kwargs)
        self.connection = connection
        for name in ("organization", "type", "name") if connection else ():
            del self.fields[name]
        self.tried: Tried
        self.wanted: Wanted

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        token, private_key = cleaned.pop("token", ""), cleaned.pop("private_key", "")
        if self.errors:
            return cleaned
        type = self.connection.type if self.connection else cleaned["type"]
        if cleaned["kind"] not in kinds_of(type):
            self.add_error("kind", "This kind of credentials is not for this kind of git host.")
            return cleaned
        is_app = cleaned["kind"] == SourceCredentials.Kind.GITHUB_APP
        self.wanted = Wanted(
            organization=self.connection.organization if self.connection else cleaned["organization"],
            type=type, base_url=cleaned["base_url"].strip() or None, name=cleaned.get("name", ""),
            connection=self.connection, is_default=cleaned["is_default"],
            credentials=Credentials(
                kind=cleaned["kind"], secret=private_key if is_app else token.strip(),
                username=cleaned["username"] or None, app_id=cleaned["app_id"] or None,
                installation_id=cleaned["installation_id"] or None,
            ),
        )  # fmt: skip
        try:
            self.tried = try_credentials(self.wanted)
        except NotConnected as error:
            raise forms.ValidationError(f"Nothing was stored. {error}") from None
        return cleaned


def connect_view(admin: Any, request: HttpRequest, connection: SourceConnection | None) -> HttpResponse:
    """`admin` is the connections' ModelAdmin; `connection` is one that is to get credentials, or other ones."""
    initial = {"base_url": connection.base_url or ""} if connection else {}
    form = ConnectForm(request.POST or None, initial=initial, connection=connection)
    if request.method == "POST" and form.is_valid() and (stored := _stored(form)):
        admin.log_change(request, stored, f"Connected to {form.tried.host.base_url}.")
        _tell(request, form.tried)
        return HttpResponseRedirect(reverse("admin:orgs_sourceconnection_change", args=[stored.pk]))
    context = admin.admin_site.each_context(request) | {
        "form": form, "opts": admin.opts, "button": "Try the credentials and connect",
        "title": f"Credentials for {connection}" if connection else "Connect a git host",
    }  # fmt: skip
    return TemplateResponse(request, "admin/orgs/connect.html", context)


def disconnect_view(admin: Any, request: HttpRequest, connection: SourceConnection) -> HttpResponse:
    """The connection has credentials."""
    if request.method == "POST":
        admin.log_change(request, connection, "Disconnected.")
        messages.success(request, disconnect(connection))
        return HttpResponseRedirect(reverse("admin:orgs_sourceconnection_changelist"))
    context = admin.admin_site.each_context(request) | {
        "connection": connection, "opts": admin.opts, "title": "Disconnect a git host",
    }  # fmt: skip
    return TemplateResponse(request, "admin/orgs/sourceconnection/disconnect.html", context)


def _stored(form: ConnectForm) -> SourceConnection | None:
    try:
        return store(form.wanted, form.tried)
    except NotConnected as error:
        form.add_error(None, f"Nothing was stored. {error}")
        return None


def _tell(request: HttpRequest, tried: Tried) -> None:
    login = f" as {tried.account.login}" if tried.account.login else ""
    told = [f"Connected to {tried.host.base_url}{login}. The secret is stored, encrypted.", *lines_of(tried)]
    messages.success(request, " ".join(told))
    for warning in warnings_of(tried):
        messages.warning(request, warning)
