"""What a migration makes of rows that are there already."""

from importlib import import_module

import pytest
from django.apps import apps
from django.utils import timezone

from apps.oauthmcp.models import Authorization, Grant
from tests.factories import Fill
from tests.oauthmcp.grants import make_authorization, make_client, make_code, make_member

fill = import_module("apps.oauthmcp.migrations.0009_fill_authorization_redirect_uri").fill


@pytest.mark.django_db
def test_authorizations_get_the_redirect_uri_of_their_code_while_that_is_kept(acme: Fill) -> None:
    ada, client = make_member(acme.organization), make_client()
    with_code, without, later = (make_authorization(client, ada) for _ in range(3))
    Authorization.objects.filter(pk=later.pk).update(redirect_uri="https://later.example/cb")
    for authorization in (with_code, later):
        make_code(
            client, ada, redirect_uri="https://app.example/cb", authorization=authorization, redeemed_at=timezone.now()
        )
    make_code(client, ada)
    fill(apps, None)
    assert dict(Authorization.objects.values_list("pk", "redirect_uri")) == {
        with_code.pk: "https://app.example/cb",
        without.pk: "",
        later.pk: "https://later.example/cb",
    }
    assert Grant.objects.count() == 3
