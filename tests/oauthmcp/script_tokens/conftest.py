"""Ada, who makes tokens for scripts in acme."""

import pytest

from apps.orgs.models import Membership
from tests.accounts.conftest import clock, mail_at_once  # noqa: F401
from tests.factories import Fill
from tests.oauthmcp.grants import make_member


@pytest.fixture
def ada(acme: Fill) -> Membership:
    return make_member(acme.organization, name="Ada")
