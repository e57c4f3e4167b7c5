"""What was seen of an application's health, on the page of what it was seen of."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.dateparse import parse_datetime
from django.utils.formats import date_format
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from apps.orgs.admin.labels import HELP_TEXTS, LABELS
from apps.orgs.admin.readonly import ReadOnlyAdminMixin
from apps.orgs.models import EdgeFact, EdgeStatistics, RuntimeFact


class FactInline(ReadOnlyAdminMixin, admin.StackedInline):
    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        return super().get_formset(request, obj, labels=LABELS, help_texts=HELP_TEXTS, **kwargs)


class EdgeFactInline(FactInline):
    model = EdgeFact
    verbose_name_plural = "Edge check"
    fields = readonly_fields = (
        "checked_at", "period", "reachable", "http_status", "latency_ms", "dns_status", "tls_issuer", "tls_not_after",
        "tls_is_valid", "error",
    )  # fmt: skip


class EdgeStatisticsInline(FactInline):
    model = EdgeStatistics
    verbose_name_plural = "Edge statistics"
    fields = readonly_fields = ("uptime_24h", "latency_p50_ms", "latency_p95_ms", "checked_at", "period")


class RuntimeInline(FactInline):
    model = RuntimeFact
    verbose_name_plural = "Runtime"
    fields = readonly_fields = ("desired_replicas", "running_replicas", "each_instance", "checked_at", "period")

    @admin.display(description="Instances")
    def each_instance(self, fact: RuntimeFact) -> SafeString:
        return format_html_join("", "<div>{} since {} {}</div>", (_words(instance) for instance in fact.instances))


def _words(instance: dict[str, Any]) -> tuple[str, str, str]:
    since = parse_datetime(instance.get("since") or "")
    when = date_format(since, "DATETIME_FORMAT") if since else "an unknown time"
    return instance["state"], when, instance.get("message") or ""
