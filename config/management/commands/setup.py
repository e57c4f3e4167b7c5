"""manage.py setup: from an empty database to an installation that somebody can sign in to."""

import io
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from apps.orgs.models import Membership, Organization, User
from apps.platforms.connecting import Wanted
from apps.platforms.management.commands import connect_coolify, connect_dokploy
from apps.platforms.management.connect import ConnectCommand
from apps.platforms.models import PlatformConnection
from config.checks import check_all_rules, settings_rules
from config.management import prepare
from config.management.next_steps import next_steps
from config.management.plan import Plan, from_answers, from_flags, titled

CONNECT: dict[str, type[ConnectCommand]] = {"dokploy": connect_dokploy.Command, "coolify": connect_coolify.Command}
FLAGS = ("operator", "organization", "name", "dokploy", "coolify", "manifest", "key_file")


class Command(BaseCommand):
    help = (
        "Sets an installation up: keys, database, static files, an operator, an organization and what it reads. "
        "Changes nothing that is there, so it can be run again, and after each upgrade. "
        "At a terminal and without flags it asks."
    )
    requires_system_checks = []  # a bad setting is told in one sentence

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--operator", metavar="EMAIL",
            help="who runs this installation; the password is asked for, else it is PORTHOLE_OPERATOR_PASSWORD, or the "
            "first line of standard input",
        )  # fmt: skip
        parser.add_argument("--organization", metavar="SLUG", help="its short name; the operator becomes an owner")
        parser.add_argument("--name", help="what people call it")
        system = parser.add_mutually_exclusive_group()
        system.add_argument("--dokploy", metavar="URL", help="where its applications run (docs/dokploy.md)")
        system.add_argument("--coolify", metavar="URL", help="the same (docs/coolify.md)")
        system.add_argument("--manifest", metavar="FILE", help="or a file that describes it (docs/manifest.md)")
        parser.add_argument("--key-file", metavar="FILE", help="the key of Dokploy or Coolify, or - for standard input")

    def handle(self, *args: Any, **options: Any) -> None:
        flags = {name: options[name] for name in FLAGS}
        self.verbosity = options["verbosity"]
        plan = from_flags(flags)
        try:
            self._prepare()
            if sys.stdin.isatty() and not any(flags.values()):
                plan = from_answers()
            with prepare.one_at_a_time():
                self._carry_out(plan)
            check_all_rules()  # those that need rows
        except DatabaseError as error:
            reason = str(error).strip().partition("\n")[0]
            raise CommandError(f"The database that DATABASE_URL names cannot be used: {reason}") from None
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be written: {error.strerror}.") from None
        except (EOFError, KeyboardInterrupt):
            raise CommandError("Stopped. What was made is kept: run it again to go on.") from None
        self.stdout.write(next_steps())

    def _prepare(self) -> None:
        for problem in settings_rules():
            raise ImproperlyConfigured(problem.msg)
        with prepare.one_at_a_time():
            due = prepare.due_migrations()
            self.stdout.write(f"Database: {f'{due} migrations to apply ...' if due else 'up to date.'}")
            if due:
                prepare.migrate()
            had_to = prepare.collect_static_files()
            self.stdout.write(f"Static files: {'collected' if had_to else 'up to date'}.")

    def _carry_out(self, plan: Plan) -> None:
        if plan.operator:
            self._operator(plan.operator)
        if plan.organization:
            self._organization(plan.organization, plan.name)
        if plan.operator and plan.organization:
            self._membership(plan.operator, plan.organization)
        if plan.kind:
            self._connection(plan)
        if plan.manifest:
            call_command("sync_manifest", plan.organization, plan.manifest, stdout=self.stdout)

    def _operator(self, email: str) -> None:
        if User.objects.filter(email=email, is_staff=True, is_active=True).exists():
            return self.stdout.write(f"Operator: {email} is one.")
        while True:
            try:
                call_command("create_operator", email, stdout=io.StringIO())
                return self.stdout.write(f"Operator: made {email}.")
            except CommandError as error:
                if not sys.stdin.isatty() or User.objects.filter(email=email).exists():
                    raise
                self.stderr.write(str(error))

    def _organization(self, slug: str, name: str | None) -> None:
        if organization := Organization.objects.filter(slug=slug).first():
            return self.stdout.write(f"Organization: {slug} is there, as {organization.name}.")
        call_command("create_organization", slug, name=name or titled(slug), stdout=io.StringIO())
        return self.stdout.write(f"Organization: made {slug}.")

    def _membership(self, email: str, slug: str) -> None:
        membership = Membership.objects.filter(user__email=email, organization__slug=slug).first()
        if membership is None:
            call_command("add_member", slug, email, role=Membership.Role.OWNER, stdout=io.StringIO())
        self.stdout.write(f"Membership: {email} is {membership.role if membership else 'now owner'} of {slug}.")

    def _connection(self, plan: Plan) -> None:
        assert plan.kind  # noqa: S101  (for mypy)
        there = PlatformConnection.objects.filter(platform__organization__slug=plan.organization, base_url=plan.url)
        if there.filter(platform__kind=plan.kind).exists():
            return self.stdout.write(f"Connection: {plan.organization} reads {plan.url}. Its key was left as it is.")
        organization = Organization.objects.get(slug=plan.organization)
        wanted = Wanted(organization=organization, kind=plan.kind, base_url=plan.url, key=plan.key)
        return CONNECT[plan.kind](stdout=self.stdout, stderr=self.stderr).connect(wanted, self.verbosity)  # type: ignore[arg-type]
