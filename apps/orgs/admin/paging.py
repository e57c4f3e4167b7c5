"""Pages of long lists, without counting what nobody will page through."""

from functools import cached_property
from typing import Any, cast

from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest

CAP = 5000


class MoreThan(int):
    """A number of rows that is only a lower bound, and says so."""

    def __str__(self) -> str:
        return f"more than {int(self):,}"


class CappedPaginator(Paginator):
    """Counts and shows at most CAP rows: a search or a filter finds the rest sooner than its thousandth page would."""

    @cached_property
    def count(self) -> int:
        # The order does not change the number, and without it the database may stop wherever it is.
        rows = cast("QuerySet[Any]", self.object_list)
        found = rows.order_by()[: CAP + 1].count()
        return MoreThan(CAP) if found > CAP else found


class BoundedChangeList(ChangeList):
    """Says so where a search or a filter found more than is shown (`apps.orgs.admin.parts.only`)."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        if getattr(request, "finds_more", False):
            self.result_count = MoreThan(self.result_count)
