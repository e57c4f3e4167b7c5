"""The words that columns may hold, for those who publish them. Tools take them from here, never from a model."""

from apps.orgs.models import (
    App,
    Deployment,
    Domain,
    EdgeFact,
    EnvVarName,
    Membership,
    OrgSecretName,
    Platform,
    SourceConnection,
    Status,
)

APP_KINDS = App.Kind.values
SOURCE_TYPES = App.SourceType.values
APP_STATUSES = Status.values
CERTIFICATE_STATUSES = ["valid", "expiring", "expired", "invalid", "unknown"]
CERTIFICATE_TYPES = Domain.CertificateType.values
CONNECTION_TYPES = SourceConnection.Type.values
DEPLOYMENT_STATUSES = Deployment.Status.values
DEPLOYMENT_TARGETS = ["production", "preview"]
DEPLOYMENT_TRIGGERS = Deployment.Trigger.values
DNS_STATUSES = EdgeFact.DnsStatus.values
ENTRY_TYPES = ["file", "directory", "symlink", "submodule"]
FILE_ENCODINGS = ["utf-8", "base64"]
EDGE_STATUSES = ["up", "degraded", "down", "unknown"]
HEALTH_LEVELS = ["healthy", "degraded", "down", "deploying", "unknown"]
HEALTH_FILTERS = [*HEALTH_LEVELS, "unhealthy"]
MEMBERSHIP_ROLES = Membership.Role.values
PLATFORM_KINDS = Platform.Kind.values
SECRET_SCOPES = OrgSecretName.Scope.values
SYNC_STATUSES = Platform.SyncStatus.values
VARIABLE_SCOPES = EnvVarName.Scope.values
