"""The checkout that tools read files from, also for the tests beside the catalog's."""

from tests.tools.catalog.conftest import checkout  # noqa: F401  # the fixture
