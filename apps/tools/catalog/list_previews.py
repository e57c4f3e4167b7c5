"""list_previews."""

from typing import Any

from apps.orgs.rows import Row
from apps.orgs.scope import OrgScope
from apps.orgs.vocabulary import APP_STATUSES
from apps.tools.base import Example, ListTool, PageInput
from apps.tools.fields import (
    ApplicationId,
    Choice,
    ChoiceInput,
    Count,
    Id,
    IntegerInput,
    Text,
    Time,
    UntrustedText,
    Url,
)
from apps.tools.paging import Page
from apps.tools.shapes import Shape


class PreviewShape(Shape):
    id = Id()
    externalId = Text(128, source="external_id", allow_null=True)
    applicationId = Id(source="app_id")
    pullRequestNumber = Count(source="pull_request_number", allow_null=True)
    pullRequestTitle = UntrustedText(source="pull_request_title", allow_null=True)
    pullRequestUrl = Url(source="pull_request_url", allow_null=True)
    branch = Text(255)
    url = Url(allow_null=True)
    status = Choice(APP_STATUSES)
    upstreamStatus = Text(50, source="upstream_status", allow_null=True, help_text="The platform's own word.")
    lastDeploymentId = Id(source="last_deployment_id", allow_null=True)
    createdAt = Time(source="created_at")
    expiresAt = Time(source="expires_at", allow_null=True)


class ListPreviews(ListTool):
    """List an application's previews, the newest first: the copies that run its pull requests, and where."""

    scope = "apps:read"
    default_limit = 50

    example = Example(
        input={"applicationId": "app_4a5s0hkv8z19baxmyg4qe44vxh", "status": "deployed", "limit": 1},
        output={
            "items": [
                {
                    "id": "prv_h8yp0tvzm5m68a74kg3ew7dvbn",
                    "externalId": "pr-57",
                    "applicationId": "app_4a5s0hkv8z19baxmyg4qe44vxh",
                    "pullRequestNumber": 57,
                    "pullRequestTitle": "Make cursors shorter",
                    "pullRequestUrl": "https://github.com/harbour-works/porthole/pull/57",
                    "branch": "faster-cursors",
                    "url": "https://pr-57.porthole.harbour.example/",
                    "status": "deployed",
                    "upstreamStatus": "done",
                    "lastDeploymentId": "dep_3cgev4v2b4zecbgdth7qw9amvy",
                    "createdAt": "2026-05-30T10:04:00.000Z",
                    "expiresAt": "2026-06-06T10:04:00.000Z",
                }
            ],
            "nextCursor": None,
            "syncedAt": "2026-06-01T12:00:00.000Z",
        },
    )

    class Input(PageInput):
        applicationId = ApplicationId()
        pullRequestNumber = IntegerInput(
            source="pull_request_number", required=False, default=None, min_value=0, max_value=2**31 - 1
        )
        status = ChoiceInput(APP_STATUSES)

    item = PreviewShape

    def run(self, org: OrgScope, *, page: Page, application_id: str, **filters: Any) -> Row:
        return page.of(org.app(application_id).previews(**filters))
