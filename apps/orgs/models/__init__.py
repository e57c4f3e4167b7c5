"""Every row that Porthole keeps."""

from apps.orgs.models.counts import OrganizationCounts, ProjectCounts
from apps.orgs.models.deployments import Deployment, Domain, Preview
from apps.orgs.models.facts import EdgeFact, EdgeHour, EdgeStatistics, RuntimeFact
from apps.orgs.models.health import HealthTimetable
from apps.orgs.models.invitations import Invitation
from apps.orgs.models.names import EnvVarName, OrgSecretName
from apps.orgs.models.organizations import DataVersion, Membership, Organization, Platform
from apps.orgs.models.people import User
from apps.orgs.models.projects import App, Environment, Project, SourceConnection, Status
from apps.orgs.models.templates import CatalogueVersion, Template

__all__ = [
    "App",
    "CatalogueVersion",
    "DataVersion",
    "Deployment",
    "Domain",
    "EdgeFact",
    "EdgeHour",
    "EdgeStatistics",
    "EnvVarName",
    "Environment",
    "HealthTimetable",
    "Invitation",
    "Membership",
    "OrgSecretName",
    "Organization",
    "OrganizationCounts",
    "Platform",
    "Preview",
    "Project",
    "ProjectCounts",
    "RuntimeFact",
    "SourceConnection",
    "Status",
    "Template",
    "User",
]
