"""Porthole's tables as Django models of their own, with nothing that Porthole adds to them."""

from django.db import models


class Table(models.Model):
    class Meta:
        abstract = True
        managed = False
        app_label = "peers"


class Organization(Table):
    id = models.CharField(max_length=30, primary_key=True)
    synced_at = models.DateTimeField(null=True)

    class Meta(Table.Meta):
        db_table = "orgs_organization"


class User(Table):
    is_active = models.BooleanField()

    class Meta(Table.Meta):
        db_table = "orgs_user"


class Membership(Table):
    organization = models.ForeignKey(Organization, models.CASCADE)
    user = models.ForeignKey(User, models.CASCADE)

    class Meta(Table.Meta):
        db_table = "orgs_membership"


class Authorization(Table):
    id = models.UUIDField(primary_key=True)
    membership = models.ForeignKey(Membership, models.CASCADE)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    class Meta(Table.Meta):
        db_table = "oauthmcp_authorization"


class AccessToken(Table):
    authorization = models.ForeignKey(Authorization, models.CASCADE)
    token_checksum = models.CharField(max_length=64, unique=True)
    expires = models.DateTimeField()

    class Meta(Table.Meta):
        db_table = "oauthmcp_accesstoken"


class Project(Table):
    id = models.CharField(max_length=30, primary_key=True)
    name = models.CharField(max_length=200)

    class Meta(Table.Meta):
        db_table = "orgs_project"


class Environment(Table):
    id = models.CharField(max_length=30, primary_key=True)
    name = models.CharField(max_length=100)

    class Meta(Table.Meta):
        db_table = "orgs_environment"


class App(Table):
    id = models.CharField(max_length=30, primary_key=True)
    organization = models.ForeignKey(Organization, models.CASCADE)
    project = models.ForeignKey(Project, models.CASCADE)
    environment = models.ForeignKey(Environment, models.SET_NULL, null=True)
    external_id = models.CharField(max_length=128, null=True)
    name = models.CharField(max_length=200)
    slug = models.CharField(max_length=200)
    description = models.CharField(max_length=1000, null=True)
    sort_key = models.CharField(max_length=600)
    kind = models.CharField(max_length=11)
    status = models.CharField(max_length=9)
    upstream_status = models.CharField(max_length=50, null=True)
    source_type = models.CharField(max_length=9)
    repository = models.CharField(max_length=500, null=True)
    branch = models.CharField(max_length=255, null=True)
    image = models.CharField(max_length=500, null=True)
    connection_id = models.CharField(max_length=30, null=True)
    primary_url = models.CharField(max_length=2000, null=True)
    dashboard_url = models.CharField(max_length=2000, null=True)
    last_deployed_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    hidden_at = models.DateTimeField(null=True)

    class Meta(Table.Meta):
        db_table = "orgs_app"


class Health(Table):
    """Of the benchmark's applications there is one row each, which holds for ever."""

    app = models.OneToOneField(App, models.CASCADE, related_name="judged")
    level = models.CharField(max_length=9, db_column="level_1")
    reason = models.CharField(max_length=500, null=True, db_column="reason_1")

    class Meta(Table.Meta):
        db_table = "orgs_healthtimetable"
