"""What operators may do: rows that only a sync changes, organizations that they keep, and who may look."""

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.utils import quote
from django.test import Client
from django.urls import reverse

from apps.orgs.models import (
    App,
    Deployment,
    EdgeFact,
    EdgeStatistics,
    Membership,
    Organization,
    Platform,
    Project,
    RuntimeFact,
    Template,
    User,
)
from tests.factories import START, Fill, make
from tests.oauthmcp.grants import make_access_token, make_authorization, make_client, make_code, make_refresh_token
from tests.operators import (
    LIMITS,
    LISTED,
    NO_ROWS_TO_ADD,
    OWNED,
    add_more,
    client_of,
    list_of,
    no_rows,
    organization_form,
    page_of,
    staff_who_may,
    synced_copy,
    template_form,
    values_of,
)

PAGES = ("changelist", "add", "change", "history", "delete")


def test_every_model_but_the_facts_has_a_list() -> None:
    registered = {model for model in admin.site._registry if model._meta.app_label == "orgs"}
    assert registered == set(LISTED)


def test_pages_say_which_zone_their_times_are_in(operator: Client, acme: Fill) -> None:
    assert "All times are UTC." in operator.get(page_of(acme.organization)).content.decode()


@pytest.mark.parametrize("model", NO_ROWS_TO_ADD)
def test_what_only_syncs_write_cannot_be_added(operator: Client, model: Any) -> None:
    assert operator.post(reverse(f"admin:orgs_{model._meta.model_name}_add"), {"name": "mine"}).status_code == 403


@pytest.mark.parametrize("model", [*OWNED, Platform])
def test_what_a_sync_owns_can_be_seen_but_not_changed_or_deleted(operator: Client, acme: Fill, model: Any) -> None:
    row = acme.platform if model is Platform else synced_copy(model, acme)
    before = values_of(row)

    assert operator.get(page_of(row)).status_code == 200
    assert operator.post(page_of(row), {"name": "mine", "title": "mine", "branch": "mine"}).status_code == 403
    assert operator.post(page_of(row, "delete"), {"post": "yes"}).status_code == 403
    assert values_of(row) == before


def test_a_template_of_the_catalogue_can_be_seen_but_not_changed(operator: Client) -> None:
    template = Template.objects.create(name="Blog", description="A blog.", external_id="blog")

    assert operator.post(page_of(template), template_form(name="Mine")).status_code == 403
    assert operator.post(page_of(template, "delete"), {"post": "yes"}).status_code == 403


def test_a_row_entered_by_hand_can_be_corrected_but_does_not_leave_its_organization(
    operator: Client, acme: Fill, rival: Fill
) -> None:
    project = make(Project, acme.organization, name="Old name", external_id=None)

    data = {"name": "New name", "organization": rival.organization.id} | no_rows("environments")
    answer = operator.post(page_of(project), data)

    project.refresh_from_db()
    assert answer.status_code == 302
    assert (project.name, project.sort_key, project.organization) == ("New name", "new name", acme.organization)


def test_a_template_can_be_added_with_tags_and_addresses(operator: Client) -> None:
    add = reverse("admin:orgs_template_add")

    refused = operator.post(add, template_form(logo_url="javascript:alert(1)", tags="a b"))
    assert set(refused.context["adminform"].form.errors) == {"logo_url", "tags"}
    assert not Template.objects.filter(name="Shop").exists()

    assert (
        operator.post(add, template_form(logo_url="https://example.com/logo.svg", tags="Web, cms")).status_code == 302
    )
    template = Template.objects.get(name="Shop")
    assert (template.tags, template.organization, template.sort_key) == (",cms,web,", None, "shop")


def test_what_outsiders_wrote_is_shown_as_text(operator: Client, acme: Fill) -> None:
    acme.deployment.title = acme.deployment.commit_message = "<script>alert(1)</script>"
    acme.deployment.save()
    RuntimeFact.objects.update(instances=[{"state": "failed", "since": None, "message": "<b>bold</b>"}])
    for address in (list_of(Deployment), page_of(acme.deployment), page_of(acme.app)):
        page = operator.get(address).content.decode()
        assert "<script>alert" not in page
        assert "<b>bold" not in page


def test_facts_are_shown_in_the_words_of_the_field(operator: Client, acme: Fill) -> None:
    page = operator.get(page_of(acme.app)).content.decode()
    for label in (
        "Desired replicas", "Running replicas", "Instances", "Uptime (24 h)", "Latency p50 (ms)", "Latency p95 (ms)",
        "Checked at",
    ):  # fmt: skip
        assert f"{label}:" in page, label
    assert "running since 2026-03-01 12:00 " in page  # as all times are
    assert "Edge check" in operator.get(page_of(acme.domain)).content.decode()


# Who may look


def test_operators_see_what_is_hidden_and_since_when(operator: Client, acme: Fill) -> None:
    App.objects.filter(pk=acme.app.pk).update(hidden_at=START, project=None)
    for page in (list_of(App), f"{list_of(App)}?hidden_at__isempty=0", page_of(acme.app)):
        assert "2026-03-01 " in operator.get(page).content.decode(), page
    assert acme.app.name not in operator.get(f"{list_of(App)}?hidden_at__isempty=1").content.decode()
    assert operator.get(page_of(acme.domain)).status_code == 200


def test_somebody_who_is_no_operator_is_sent_to_sign_in(acme: Fill) -> None:
    for client in (client_of(User.objects.create_user("member@example.com")), Client(headers={"host": "localhost"})):
        for address in (reverse("admin:index"), list_of(App), page_of(acme.app)):
            answer = client.get(address)
            assert answer.status_code == 302
            assert answer["Location"].startswith("/admin/login/")


def test_an_operator_without_permissions_sees_nothing(acme: Fill) -> None:
    client = client_of(User.objects.create_user("new@example.com", is_staff=True))
    assert client.get(list_of(App)).status_code == 403
    assert client.get(page_of(acme.organization)).status_code == 403


def test_an_operator_who_may_only_look_cannot_change_an_organization(acme: Fill) -> None:
    client = client_of(staff_who_may("view_organization"))
    assert client.get(page_of(acme.organization)).status_code == 200
    assert client.post(page_of(acme.organization), organization_form(acme, name="Mine")).status_code == 403


# Organizations


def test_an_organization_is_created_from_a_slug_and_a_name(operator: Client) -> None:
    add = reverse("admin:orgs_organization_add")

    assert operator.post(add, {"slug": "Not A Slug", "name": "New"}).status_code == 200
    assert operator.post(add, {"slug": "new", "name": "New"}).status_code == 302

    assert Organization.objects.get(slug="new").name == "New"
    assert not Organization.objects.filter(slug="Not A Slug").exists()


def test_an_organizations_name_plan_and_limits_can_be_changed(operator: Client, acme: Fill) -> None:
    changes = {"name": "Acme Inc", "plan": "large", "project_limit": "1", "app_limit": "2", "domain_limit": "3"}

    answer = operator.post(
        page_of(acme.organization), organization_form(acme, preview_limit="", slug="moved", **changes)
    )

    assert answer.status_code == 302
    row = Organization.objects.get(id=acme.organization.id)
    assert (row.name, row.plan, row.slug) == ("Acme Inc", "large", "acme")
    assert [getattr(row, limit) for limit in LIMITS] == [1, 2, 3, None]


def test_the_default_connection_is_one_of_the_organizations_own(operator: Client, acme: Fill, rival: Fill) -> None:
    foreign = operator.post(page_of(acme.organization), organization_form(acme, default_connection=rival.connection.id))
    assert foreign.status_code == 200
    assert "default_connection" in foreign.context["adminform"].form.errors
    assert rival.connection.name not in operator.get(page_of(acme.organization)).content.decode()

    own = operator.post(page_of(acme.organization), organization_form(acme, default_connection=acme.connection.id))
    assert own.status_code == 302
    assert Organization.objects.get(slug="acme").default_connection == acme.connection


def test_members_are_added_given_a_role_and_removed_on_the_organizations_page(operator: Client, acme: Fill) -> None:
    newcomer = User.objects.create_user("newcomer@example.com")
    member = Membership.objects.get(user__email="member@example.com")

    operator.post(page_of(acme.organization), organization_form(acme, **{
        "memberships-0-id": member.id, "memberships-0-organization": acme.organization.id,
        "memberships-0-role": "owner",
        "memberships-TOTAL_FORMS": "1", "memberships-INITIAL_FORMS": "1",
        "memberships-2-TOTAL_FORMS": "1", "memberships-2-0-user": newcomer.id, "memberships-2-0-role": "member",
    }))  # fmt: skip
    roles = dict(acme.organization.memberships.values_list("user__email", "role"))
    assert roles == {"member@example.com": "owner", "newcomer@example.com": "member"}

    operator.post(page_of(acme.organization), organization_form(acme, **{
        "memberships-0-id": member.id, "memberships-0-organization": acme.organization.id,
        "memberships-0-role": "owner",
        "memberships-0-DELETE": "on", "memberships-TOTAL_FORMS": "1", "memberships-INITIAL_FORMS": "1",
    }))  # fmt: skip
    assert list(acme.organization.memberships.values_list("user__email", flat=True)) == ["newcomer@example.com"]


def test_the_page_of_a_large_organization_leaves_its_members_to_their_own_list(
    operator: Client, acme: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.accounts.admin.organizations.MEMBERS_ON_PAGE", 0)
    page = operator.get(page_of(acme.organization)).content.decode()
    assert "member@example.com" not in page
    assert "/admin/orgs/membership/?organization=acme" in page


def test_an_organizations_page_links_to_what_it_owns(operator: Client, acme: Fill) -> None:
    page = operator.get(page_of(acme.organization)).content.decode()
    for model in OWNED:
        assert f'href="{list_of(model)}?organization=acme"' in page


def test_deleting_an_organization_counts_what_goes_and_takes_nothing_else(operator: Client, acme: Fill) -> None:
    add_more(Deployment, acme, 20)

    page = operator.get(page_of(acme.organization, "delete")).content.decode()
    assert "Deployments: 21" in page
    assert acme.deployment.title not in page  # not row by row

    assert operator.post(page_of(acme.organization, "delete"), {"post": "yes"}).status_code == 302
    for model in [*OWNED, EdgeFact, EdgeStatistics, RuntimeFact, Platform]:
        assert set(model.objects.values_list("organization__slug", flat=True)) == {"rival"}


def test_every_page_of_the_admin_opens_with_rows(operator: Client, acme: Fill) -> None:
    member = Membership.objects.get(user__email="member@example.com")
    client = make_client("Assistant", secret="a-client-secret", metadata={"client_uri": "https://example.com/"})
    authorization = make_authorization(client, member)
    for made in (make_access_token(authorization), make_refresh_token(authorization), make_code(client, member)):
        assert made
    for model in admin.site._registry:
        names = {page: f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}" for page in PAGES}
        never = 403 if model._meta.model_name == "idtoken" else 200
        assert operator.get(reverse(names["changelist"])).status_code == never, model
        assert operator.get(reverse(names["add"])).status_code in (200, 403), model
        for row in model._default_manager.all()[:3]:
            for page in ("change", "history", "delete"):
                answer = operator.get(reverse(names[page], args=[quote(row.pk)]))
                assert answer.status_code in ((200, 403) if page == "delete" else (200,)), (model, page)
