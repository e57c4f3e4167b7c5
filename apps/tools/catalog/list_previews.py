"""list_previews."""

from typing import Any

from apps.orgs.rows import Row
from apps.orgs.scope import OrgScope
from apps.orgs.vocabulary import APP_STATUSES
from apps.tools.base import ListTool, PageInput
from apps.tools.fields import ApplicationId, ChoiceInput, Count, Id, IntegerInput, Outsiders, Text, Time, Url, Word
from apps.tools.paging import Page
from apps.tools.shapes import Shape


class PreviewShape(Shape):
    id = Id()
    externalId = Text(128, source="external_id", allow_null=True)
    applicationId = Id(source="app_id")
    pullRequestNumber = Count(source="pull_request_number", allow_null=True)
    pullRequestTitle = Outsiders(source="pull_request_title", allow_null=True)
    pullRequestUrl = Url(source="pull_request_url", allow_null=True)
    branch = Text(255)
    url = Url(allow_null=True)
    status = Word(APP_STATUSES)
    upstreamStatus = Text(50, source="upstream_status", allow_null=True, help_text="The platform's own word.")
    lastDeploymentId = Id(source="last_deployment_id", allow_null=True)
    createdAt = Time(source="created_at")
    expiresAt = Time(source="expires_at", allow_null=True)


class ListPreviews(ListTool):
    """List an application's previews, the newest first: the copies that run its pull requests, and where.

    pullRequestNumber finds the preview of one pull request; lastDeploymentId is in list_deployments with previewId.
    """

    scope = "apps:read"
    default_limit = 50

    class Input(PageInput):
        applicationId = ApplicationId()
        pullRequestNumber = IntegerInput(
            source="pull_request_number", required=False, default=None, min_value=0, max_value=2**31 - 1
        )
        status = ChoiceInput(APP_STATUSES)

    item = PreviewShape

    def run(self, org: OrgScope, *, page: Page, application_id: str, **filters: Any) -> Row:
        return page.of(org.app(application_id).previews(**filters))
