"""Splits what outside checks saw of an application from what its platform runs, and gives every fact its period."""

import django.db.models.deletion
from django.db import migrations, models

BATCH = 1000
PROBE_PERIOD = 60
STATISTICS = ("uptime_24h", "latency_p50_ms", "latency_p95_ms")
RUNTIME = ("desired_replicas", "running_replicas", "instances")


def period_of(platform):
    """A manifest's facts are never checked again, a platform's at its next sync, those of nobody by the prober."""
    if platform is None:
        return PROBE_PERIOD
    return None if platform.kind == "manifest" else platform.sync_period


def move(apps, schema_editor):
    alias = schema_editor.connection.alias
    statistics, runtime = (apps.get_model("orgs", name) for name in ("EdgeStatistics", "RuntimeFact"))
    facts = apps.get_model("orgs", "AppFact").objects.using(alias)
    ids = list(facts.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), BATCH):
        batch = list(facts.filter(pk__in=ids[start : start + BATCH]).select_related("platform"))
        seen = [fact for fact in batch if any(getattr(fact, column) is not None for column in STATISTICS)]
        for model, rows, columns in (
            (statistics, seen, STATISTICS),
            (runtime, [fact for fact in batch if fact.has_runtime], RUNTIME),
        ):
            model.objects.using(alias).bulk_create(part_of(model, fact, columns) for fact in rows)


def part_of(model, fact, columns):
    return model(
        app_id=fact.app_id,
        organization_id=fact.organization_id,
        platform_id=fact.platform_id,
        period=period_of(fact.platform),
        **{column: getattr(fact, column) for column in columns},
    )


def set_periods(apps, schema_editor):
    """Of edge checks; those without a platform have the default already."""
    alias = schema_editor.connection.alias
    for platform in apps.get_model("orgs", "Platform").objects.using(alias):
        checks = apps.get_model("orgs", "EdgeFact").objects.using(alias).filter(platform=platform)
        checks.update(period=period_of(platform))


def period():
    return models.PositiveIntegerField(
        default=PROBE_PERIOD, help_text="Seconds between two checks. Null: nobody checks again.", null=True
    )


def app(related_name):
    return models.OneToOneField(
        on_delete=django.db.models.deletion.CASCADE,
        primary_key=True,
        related_name=related_name,
        serialize=False,
        to="orgs.app",
    )


def owner(to, **options):
    return models.ForeignKey(
        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to=to, **options
    )


class Migration(migrations.Migration):
    dependencies = [("orgs", "0005_fill_sort_and_search_keys")]

    operations = [
        migrations.AlterModelOptions(name="edgefact", options={"verbose_name": "edge check"}),
        migrations.AddField(model_name="edgefact", name="period", field=period()),
        migrations.CreateModel(
            name="EdgeStatistics",
            fields=[
                ("period", period()),
                ("app", app("edge_statistics")),
                ("checked_at", models.DateTimeField(null=True)),
                (
                    "uptime_24h",
                    models.FloatField(
                        help_text="Share of checks in the last 24 hours that it passed, 0 to 1.", null=True
                    ),
                ),
                ("latency_p50_ms", models.PositiveIntegerField(null=True)),
                ("latency_p95_ms", models.PositiveIntegerField(null=True)),
                ("organization", owner("orgs.organization")),
                ("platform", owner("orgs.platform", editable=False, null=True)),
            ],
            options={
                "verbose_name": "edge statistics",
                "verbose_name_plural": "edge statistics",
                "indexes": [
                    models.Index(fields=["organization"], name="edge_statistics_of"),
                    models.Index(fields=["platform"], name="edge_statistics_of_platform"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RuntimeFact",
            fields=[
                ("period", period()),
                ("app", app("runtime")),
                ("checked_at", models.DateTimeField(null=True)),
                ("desired_replicas", models.PositiveIntegerField(null=True)),
                ("running_replicas", models.PositiveIntegerField(null=True)),
                (
                    "instances",
                    models.JSONField(blank=True, default=list, help_text="At most 20: state, since, message."),
                ),
                ("organization", owner("orgs.organization")),
                ("platform", owner("orgs.platform", editable=False, null=True)),
            ],
            options={
                "verbose_name": "runtime",
                "verbose_name_plural": "runtimes",
                "indexes": [
                    models.Index(fields=["organization"], name="runtime_of"),
                    models.Index(fields=["platform"], name="runtime_of_platform"),
                ],
            },
        ),
        migrations.RunPython(set_periods),
        migrations.RunPython(move),
        migrations.DeleteModel(name="AppFact"),
    ]
