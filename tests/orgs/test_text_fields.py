"""Columns of text by outsiders: prose is cleaned however it is written, forms refuse identifiers and links."""

import pytest
from django.contrib.admin.utils import quote
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from apps.orgs.models import App, Project
from tests.factories import Fill, make_app

pytestmark = pytest.mark.django_db

BAD = "\u202e\U000e0041\x1b\u200b"


@pytest.mark.parametrize("way", ["save", "bulk_create", "bulk_update", "update"])
def test_prose_is_cleaned_however_it_is_written(acme: Fill, way: str) -> None:
    project = Project.objects.get(pk=acme.project.pk)
    project.name, project.description = f"Sh{BAD}op", f"a\r\n{BAD}b"
    match way:
        case "save":
            project.save(update_fields=["name", "description"])
            assert project.name == "Shop"
        case "bulk_create":
            project.pk, project.external_id = "prj_new", "new"
            Project.objects.bulk_create([project])
        case "bulk_update":
            Project.objects.bulk_update([project], ["name", "description"])
        case "update":
            Project.objects.filter(pk=project.pk).update(name=project.name, description=project.description)
    row = Project.objects.get(pk=project.pk)
    assert (row.name, row.description, row.sort_key, row.search_key) == ("Shop", "a\nb", "shop", "shop\x1fa\nb")
    assert Project.objects.filter(name=f"Sh{BAD}op").exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("slug", "sh\u200bop"), ("branch", "ma\u202ein"), ("repository", "acme/\U000e0041"), ("name", BAD),
        ("primary_url", "javascript:alert(1)"), ("dashboard_url", "https://example.com/\u202e"),
    ],
)  # fmt: skip
def test_forms_refuse_what_would_name_something_else(acme: Fill, operator: Client, field: str, value: str) -> None:
    app = make_app(acme.project, name="By hand")
    with pytest.raises(ValidationError) as refused:
        App(project=acme.project, organization=acme.organization, source_type="docker", **{field: value}).full_clean()
    assert field in refused.value.message_dict
    address = reverse("admin:orgs_app_change", args=[quote(app.pk)])
    form = operator.get(address).context["adminform"].form
    values = {name: "" if form[name].value() is None else form[name].value() for name in form.fields}
    answer = operator.post(address, values | {field: value})
    assert answer.status_code == 200
    assert field in answer.context["adminform"].form.errors
    assert f'href="{value}' not in answer.content.decode()
    assert "\u202e" not in answer.content.decode()
