"""Rows that the database writes as JSON are the bytes that would be made of them here."""

from typing import Any

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from apps.orgs.prepared import PreparedRows
from apps.tools import answers, paging
from apps.tools.paging import fit, fit_encoded
from apps.web.render import encode
from tests.api import PREFIX, Api
from tests.examples import examples
from tests.factories import Fill, make_more
from tests.tools.test_every_tool import LIST_TOOLS, input_for

# Those whose rows are finished by the statement that reads them.
AS_JSON = {"list_apps", "list_org_secrets"}
NASTY = [
    "".join(map(chr, range(1, 0x80))), "\"\\/\b\f</script>",
    "İß\u202e\u2028\ufeff\u200d", "🚢\U0001f468\u200d\U0001f469",
    "", "\x7f\x85\xad",
]  # fmt: skip
COLUMNS = {
    "orgs_app": ("name", "description", "branch", "upstream_status", "repository"),
    "orgs_deployment": ("title", "branch", "author", "error_message"),
    "orgs_preview": ("title", "branch", "author"),
    "orgs_domain": ("host", "path"),
}


def write(text: str) -> None:
    """Past the models, which would clean it."""
    with connection.cursor() as cursor:
        for table, columns in COLUMNS.items():
            known = {column.name for column in connection.introspection.get_table_description(cursor, table)}
            assignments = ", ".join(f"{column} = %s" for column in columns if column in known)
            cursor.execute(f"UPDATE {table} SET {assignments}", [text] * assignments.count("%s"))


def answer(api: Api, tool: str, data: dict[str, Any]) -> bytes:
    """Without looking at what openapi.json promises: such texts are never stored."""
    headers = {"authorization": f"Bearer {api.bearer}"}
    response = api.client.post(PREFIX + tool, data, content_type="application/json", headers=headers)
    assert response.status_code == 200, response.content
    return response.content


@pytest.mark.parametrize("tool", [name for name in LIST_TOOLS if name != "list_files"])
def test_the_databases_json_is_ours(api: Api, acme: Fill, tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "cache", answers.AnswerCache(0))
    written: list[int] = []
    monkeypatch.setattr(paging, "fit_encoded", lambda items: (written.append(len(items)), fit_encoded(items))[1])
    make_more(acme, 3)
    is_json = tool in AS_JSON and connection.vendor == "postgresql"
    for text in NASTY if is_json else NASTY[:1]:
        write(text[:30])
        for data in (input_for(tool, acme), input_for(tool, acme) | {"limit": 1}):
            as_json = answer(api, tool, data)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(
                    PreparedRows, "_statement", lambda self, is_later: self.shape.statement(is_later=is_later)
                )
                assert as_json == answer(api, tool, data)
    assert bool(written) == is_json


@examples(30)
@given(texts=st.lists(st.text(max_size=20), min_size=1, max_size=12), limit=st.integers(1, 200))
def test_a_page_of_json_closes_where_one_of_rows_does(texts: list[str], limit: int) -> None:
    items, encoded = fit([{"a": text} for text in texts], limit)
    number, same = fit_encoded([encode({"a": text}).decode() for text in texts], limit)
    assert (number, same.content) == (len(items), encoded.content)
