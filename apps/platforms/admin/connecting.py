"""The form that connects an organization to its platform. The key goes in and never comes out."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from apps.orgs.admin.fields import OrganizationField
from apps.orgs.models import Platform
from apps.platforms.connecting import MAX_KEY, NotConnected, Wanted, store, try_key, warnings_of
from apps.platforms.connector import Identity, UpstreamError

KINDS = (("dokploy", "Dokploy"), ("coolify", "Coolify"))


class ConnectForm(forms.Form):
    organization = OrganizationField()
    kind = forms.ChoiceField(choices=KINDS, label="Platform")
    url = forms.CharField(
        max_length=500, label="URL", help_text="Where it is opened in a browser, such as https://deploy.example.com"
    )
    api_key = forms.CharField(
        max_length=MAX_KEY,
        label="API key or token",
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "off"}),
        help_text="Stored encrypted, and never shown again.",
    )
    name = forms.CharField(
        max_length=100, initial="default", help_text="What tells several platforms of one kind apart."
    )
    reads_previews = forms.BooleanField(
        required=False,
        label="List previews",
        help_text="Coolify only: with its MCP server, which must be switched on there. Dokploy tells them anyway.",
    )

    identity: Identity
    wanted: Wanted

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        self.wanted = Wanted(
            organization=cleaned["organization"], kind=cleaned["kind"], base_url=cleaned["url"],
            key=cleaned.pop("api_key"), name=cleaned["name"], reads_previews=cleaned["reads_previews"],
        )  # fmt: skip
        try:
            self.identity = try_key(self.wanted)
        except (NotConnected, UpstreamError) as error:
            raise forms.ValidationError(f"Nothing was stored. {error}") from None
        return cleaned


def connect_view(admin: Any, request: HttpRequest) -> HttpResponse:
    """`admin` is the platforms' ModelAdmin."""
    form = ConnectForm(request.POST or None, initial=_initial(request))
    if request.method == "POST" and form.is_valid() and (platform := _stored(form)):
        admin.log_change(request, platform, f"Connected to {form.identity.organization_name}.")
        _tell(request, form)
        return HttpResponseRedirect(reverse("admin:orgs_platform_change", args=[platform.pk]))
    context = admin.admin_site.each_context(request) | {
        "form": form, "opts": admin.opts, "title": "Connect a platform", "button": "Check the key and connect",
    }  # fmt: skip
    return TemplateResponse(request, "admin/orgs/connect.html", context)


def _initial(request: HttpRequest) -> dict[str, Any]:
    """Of a platform that gets a new key, all but that; of one that was disconnected, what is left."""
    number = request.GET.get("platform", "")
    if not number.isdecimal() or len(number) > 18:
        return {}
    platform = Platform.objects.select_related("organization", "connection").filter(pk=int(number)).first()
    if platform is None or platform.kind == Platform.Kind.MANIFEST:
        return {}
    known = {"organization": platform.organization.slug, "kind": platform.kind, "name": platform.name}
    if (connection := getattr(platform, "connection", None)) is None:
        return known
    return known | {"url": connection.base_url, "reads_previews": connection.reads_previews}


def _stored(form: ConnectForm) -> Platform | None:
    try:
        return store(form.wanted, form.identity, at_once=True).platform
    except NotConnected as error:
        form.add_error(None, f"Nothing was stored. {error}")
        return None


def _tell(request: HttpRequest, form: ConnectForm) -> None:
    identity = form.identity
    role = f", as {identity.role}" if identity.role else ""
    messages.success(
        request,
        f"{form.wanted.kind.title()} {identity.version}: the key is for {identity.organization_name}{role}. It is "
        "stored, encrypted, and a worker reads everything now.",
    )
    for warning in warnings_of(form.wanted, identity):
        messages.warning(request, warning)
