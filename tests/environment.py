"""The settings that tests run with. A plugin (see addopts), so that it is read before Django's settings are."""

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings

_data = Path(tempfile.mkdtemp(prefix="porthole-tests-"))
(_data / "static").mkdir(mode=0o700)
for _name in [name for name in os.environ if name.removesuffix("_FILE") in (
    "PUBLIC_URL", "PORT", "SECRET_KEY", "KEYS_DIR", "LOCAL_DEV_BEARER", "LOCAL_DEV_ORG", "DOCS_DIRS",
    "DOCS_BASE_URL", "DOCS_PUBLIC", "DOCS_SYNONYMS",
    "ALLOWED_ORIGINS", "TRUSTED_PROXIES", "E2E_BOOTSTRAP_SECRET", "BOOTSTRAP_ORG", "DEMO_EMAIL", "DEMO_PASSWORD",
    "EMAIL_URL", "EMAIL_FROM", "REDIRECT_SCHEMES", "PROBE_NETWORKS", "SOURCE_NETWORKS", "SOURCE_PROXY", "MIRRORS_GIB",
)]:  # fmt: skip
    del os.environ[_name]
os.environ.update(PORTHOLE_ENV="local", DATA_DIR=str(_data), RATE_LIMITS="off")

# Nothing depends on how fast the machine is, and nobody's change fails on an example that it has nothing to do with:
# every run tries the same ones. make soak looks for new ones, and tries more (tests/examples.py).
settings.register_profile(
    "porthole",
    deadline=None,
    derandomize=os.environ.get("TEST_RUN") != "soak",
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("porthole")


def pytest_unconfigure() -> None:
    shutil.rmtree(_data, ignore_errors=True)
