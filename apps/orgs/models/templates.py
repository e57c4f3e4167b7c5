"""Templates: what can be deployed with one click, from the installation's catalogue or an organization's own."""

from django.db import models

from apps.orgs.models.fields import ProseField, SearchKeyField, SortKeyField, WebAddressField, id_field
from apps.orgs.models.named import Named
from apps.orgs.models.organizations import Organization, Platform
from apps.orgs.models.owned import keyed_constraint


class Template(Named):
    """A template. Without an organization it belongs to the installation, and everybody sees it."""

    id = id_field("tpl")
    organization = models.ForeignKey(
        Organization, models.CASCADE, null=True, blank=True, related_name="+", db_index=False
    )
    platform = models.ForeignKey(Platform, models.CASCADE, null=True, editable=False, related_name="+", db_index=False)
    external_id = models.CharField(max_length=128, null=True, blank=True, editable=False)
    name = ProseField(max_length=100)
    description = ProseField(max_length=1000, lines=True)
    sort_key = SortKeyField(of="name", max_length=300)
    search_key = SearchKeyField(of=("name", "description", "tags"))
    version = ProseField(max_length=50, null=True, blank=True)
    tags = models.CharField(max_length=700, default=",", help_text="Between commas, also first and last: ,cms,blog,")
    logo_url = WebAddressField(max_length=500, null=True, blank=True)
    github_url = WebAddressField(max_length=500, null=True, blank=True)
    website_url = WebAddressField(max_length=500, null=True, blank=True)
    docs_url = WebAddressField(max_length=500, null=True, blank=True)

    class Meta:
        constraints = [keyed_constraint("template_key")]
        indexes = [models.Index(fields=["organization", "sort_key", "id"], name="template_by_name")]


class CatalogueVersion(models.Model):
    """Counts the changes of the installation's own templates. One row, or none as long as nothing has changed."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    version = models.PositiveBigIntegerField(default=1)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="one_catalogue")]

    def __str__(self) -> str:
        return str(self.version)
