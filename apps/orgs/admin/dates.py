"""Going into a long list by year, month and day.

Django's own way asks which days there are by truncating the time of every row. Here an index leads from the first row
of a period to the first one of the next: as many short steps as there are periods to choose from, however many rows.
Of few rows, such as those that a search found, the times are read once.
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.orgs.admin.paging import BoundedChangeList

PARTS = ("year", "month", "day")
FEW = 1000
LAST = datetime.max.replace(tzinfo=UTC)
FORMATS = {"year": "%Y", "month": "%Y-%m", "day": "%Y-%m-%d"}


@dataclass(frozen=True, slots=True)
class Periods:
    """In the form of Django's template: `back` and `choices` have titles and links."""

    back: dict[str, str] | None
    choices: list[dict[str, str]]


class DatedChangeList(BoundedChangeList):
    """With `periods`, by the column `date_hierarchy`, which an index has in the order of the list."""

    def get_filters(self, request: HttpRequest) -> Any:
        try:
            return super().get_filters(request)
        except (OverflowError, ValueError) as error:  # Django looks for the end of the year 9999
            raise IncorrectLookupParameters(error) from error

    def get_results(self, request: HttpRequest) -> None:
        self.request = request
        super().get_results(request)

    @cached_property
    def periods(self) -> Periods | None:
        begin, part = self._chosen()
        if part == "day":
            return Periods(self._link(begin, "month"), [{"title": begin.strftime(FORMATS["day"])}])
        inner, back = self._inside(begin, part), self._link(begin, _outer(part)) if part else None
        while len(inner) == 1 and part != "month":  # a year of one month alone is no choice
            part = _inner(part)
            inner = self._inside(inner[0], part)
        return Periods(back, [self._link(moment, _inner(part)) for moment in inner]) if inner else None

    def _chosen(self) -> tuple[datetime, str]:
        """When the period begins that the address names, and what it is: a year, a month, a day, or everything."""
        named: list[int] = []
        for part in PARTS:
            if (value := self.params.get(f"{self.date_hierarchy}__{part}")) is None:
                break
            named.append(int(value))  # the list was already narrowed by it
        if not named:
            return datetime.min.replace(tzinfo=UTC), ""
        return datetime(*[*named, 1, 1][:3], tzinfo=UTC), PARTS[len(named) - 1]  # type: ignore[arg-type, misc]

    def _inside(self, begin: datetime, part: str) -> list[datetime]:
        """When the years, months or days of a period begin in which there are rows."""
        end = _end(begin, part)
        if (few := self._times) is not None:
            return sorted({_begin(moment, _inner(part)) for moment in few if begin <= moment < end})
        return list(self._walk(begin, end, _inner(part)))

    @cached_property
    def _times(self) -> list[datetime] | None:
        """Of all rows, where these are few."""
        column = str(self.date_hierarchy)
        return list(self.queryset.order_by().values_list(column, flat=True)) if self.result_count <= FEW else None

    def _walk(self, at: datetime, end: datetime, part: str) -> Iterator[datetime]:
        column = str(self.date_hierarchy)
        rows = self._undated.select_related(None).order_by(column, "id").values_list(column, flat=True)
        while first := rows.filter(**{f"{column}__gte": at, f"{column}__lt": end}).first():
            begin = _begin(first, part)
            yield begin
            at = _end(begin, part)

    @cached_property
    def _undated(self) -> QuerySet[Any]:
        """The list without the period: of two beginnings, SQLite would go to the first and walk from there."""
        other = copy(self)
        other.filter_params = {
            name: value for name, value in self.filter_params.items() if not name.startswith(f"{self.date_hierarchy}__")
        }
        undated: QuerySet[Any] = other.get_queryset(self.request)
        return undated

    def _link(self, moment: datetime, part: str) -> dict[str, str]:
        """To the period of this kind that the moment is in; without a kind to all of them."""
        named = PARTS[: PARTS.index(part) + 1] if part else ()
        query = {f"{self.date_hierarchy}__{name}": str(getattr(moment, name)) for name in named}
        address: Any = self.get_query_string(query, [f"{self.date_hierarchy}__"])
        return {"link": address, "title": moment.strftime(FORMATS[part]) if part else "All dates"}


def _inner(part: str) -> str:
    return PARTS[PARTS.index(part) + 1] if part else PARTS[0]


def _outer(part: str) -> str:
    return PARTS[PARTS.index(part) - 1] if part != PARTS[0] else ""


def _begin(moment: datetime, part: str) -> datetime:
    kept = {name: getattr(moment, name) for name in PARTS[: PARTS.index(part) + 1]}
    return datetime(**{"month": 1, "day": 1, **kept}, tzinfo=UTC)


def _end(begin: datetime, part: str) -> datetime:
    """When the next one begins."""
    if not part or begin.year == LAST.year:
        return LAST
    if part == "day":
        return begin + timedelta(days=1)
    return (begin + timedelta(days=31)).replace(day=1) if part == "month" else begin.replace(year=begin.year + 1)
