"""Who looks at the admin."""

import pytest
from django.test import Client

from apps.orgs.models import Membership, User
from tests.factories import Fill
from tests.orgs.operators import client_of


@pytest.fixture
def operator(acme: Fill, rival: Fill) -> Client:
    user = User.objects.create_superuser("operator@example.com", "a-long-password")
    member = User.objects.create_user("member@example.com", "a-long-password")
    Membership.objects.create(organization=acme.organization, user=member, role="member")
    return client_of(user)
