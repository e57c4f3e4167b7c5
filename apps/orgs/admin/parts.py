"""Rows by a part of their names, however many rows there are.

The keys of the first of them are read from an index that has the names too, in the order of the list. That takes as
long as reading the index does where nothing is found, and ends early where much is: no extension of the database, no
table of trigrams that every sync would have to write.
"""

from collections.abc import Sequence
from typing import Any

from django.db.models import BooleanField, Q, QuerySet, Value
from django.db.models.functions import Coalesce
from django.http import HttpRequest

MAX_FOUND = 500


def contains(columns: Sequence[str], text: str) -> Q:
    """That one of the columns, which hold folded text, has this in it."""
    found = Q(pk__in=())
    for column in columns:
        found |= Q(**{f"{column}__contains": text})
    return found


def walked(condition: Q) -> Q:
    """The same for rows of one organization, which an index has in order.

    PostgreSQL expects few rows to be LIKE anything, and would read everybody's for them. What is in an expression it
    takes for half of the rows: so it walks the organization's until there are enough.
    """
    return Q(Coalesce(condition, Value(False), output_field=BooleanField()))


def first_keys(rows: QuerySet[Any], order: Sequence[str] = ()) -> list[Any]:
    """At most one more than is shown, so that the page can say that there are more."""
    return list(rows.order_by(*order).values_list("pk", flat=True)[: MAX_FOUND + 1])


def only(request: HttpRequest, rows: QuerySet[Any], keys: Sequence[Any]) -> QuerySet[Any]:
    """The rows with these keys, MAX_FOUND of them at most: then the page says that there are more."""
    if len(keys) > MAX_FOUND:
        request.finds_more = True  # type: ignore[attr-defined]  # for `apps.orgs.admin.paging`
    return rows.filter(pk__in=keys[:MAX_FOUND])


def exactly(request: HttpRequest, rows: QuerySet[Any], keys: Sequence[Any]) -> QuerySet[Any]:
    """The same where the keys are of `rows` already: nothing else is said, or SQLite would walk an organization's."""
    found = rows.model._default_manager.order_by(*rows.query.order_by)
    found.query.select_related = rows.query.select_related
    return only(request, found, keys)


def keys_by_part(rows: QuerySet[Any], condition: Q, *, everywhere: QuerySet[Any], order: Sequence[str]) -> list[Any]:
    """Of rows that fulfil the condition; `everywhere` are `rows` and those that filters without an index leave out.

    Where few of `everywhere` do, these are all that has to be filtered. Where many do, a walk through `rows` soon
    meets some.
    """
    keys = first_keys(everywhere.filter(condition), order)
    return keys if len(keys) <= MAX_FOUND else first_keys(rows.filter(condition), order)
