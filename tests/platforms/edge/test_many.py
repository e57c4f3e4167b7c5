"""Many domains at once: a round of a thousand is quick, and a hundred rounds leave nothing behind."""

import gc
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path
from statistics import median

import pytest

from apps.orgs.models import Domain, EdgeFact, EdgeHour
from apps.platforms.edge.lookups import Lookups
from apps.platforms.edge.probe import Prober
from apps.platforms.edge.rounds import Probe, probe_round
from apps.platforms.edge.targets import Outcome, Target
from tests.config.server import BASE_DIR
from tests.factories import Fill, make_app
from tests.fakes import certificates
from tests.platforms.edge import sites

NOW = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)
pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("many")


@pytest.fixture(scope="module")
def port(folder: Path) -> Iterator[int]:
    """A site for *.example.com; it shares the machine's cores with the prober."""
    file = folder / "site.pem"
    file.write_bytes(certificates.site("*.example.com"))
    command = [sys.executable, "-m", "tests.platforms.edge.server", str(file)]
    with subprocess.Popen(command, cwd=BASE_DIR, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.terminate()


def probing(folder: Path, ports: dict[str, int], port: int) -> Probe:
    """All names are at loopback, each at its port or else at `port`."""

    def resolve(host: str, port: None, type: int) -> list[tuple[object, ...]]:
        return [(2, type, 6, "", ("127.0.0.1", 0))]

    prober = Prober([ip_network("127.0.0.0/8")], Lookups(resolve), certificates.write_authority(folder))

    def probe(targets: list[Target]) -> list[Outcome]:
        return prober.probe([Target(t.key, t.host, t.path, t.is_https, ports.get(t.host, port)) for t in targets])

    return probe


def make_domains(fill: Fill, number: int) -> None:
    """Two for each application."""
    apps = [make_app(fill.project, f"app {n}") for n in range(number // 2)]
    Domain.objects.bulk_create(
        Domain(organization=fill.organization, app=apps[n // 2], host=f"d{n}.example.com", https=True)
        for n in range(number)
    )


def test_a_round_of_a_thousand_domains_takes_under_15_seconds(acme: Fill, folder: Path, port: int) -> None:
    make_domains(acme, 1000)
    probe = probing(folder, {}, port)
    seconds = []
    for n in range(3):
        began = time.monotonic()
        made = probe_round(NOW + timedelta(minutes=n), probe)
        seconds.append(round(time.monotonic() - began, 2))
        assert (made.domains, made.reachable) == (1000, 1000)
    sys.stderr.write(f"A round of 1,000 domains took {seconds} seconds.\n")
    assert max(seconds) < 15
    assert set(EdgeFact.objects.filter(platform=None).values_list("tls_is_valid", "error")) == {(True, None)}


def test_a_round_in_which_a_tenth_is_silent_takes_under_15_seconds(acme: Fill, folder: Path, port: int) -> None:
    make_domains(acme, 1000)
    with sites.site(sites.silent) as silent:
        probe = probing(folder, {f"d{n}.example.com": silent for n in range(0, 1000, 10)}, port)
        began = time.monotonic()
        made = probe_round(NOW, probe)
        seconds = time.monotonic() - began
    sys.stderr.write(f"A round of 1,000 domains, 100 of them silent, took {seconds:.2f} seconds.\n")
    assert (made.domains, made.reachable) == (1000, 900)
    assert seconds < 15


@pytest.mark.parametrize(("number", "limit"), [(1000, 15), (10_000, 60)])
def test_a_day_of_history_makes_a_round_no_longer_than_its_limit(
    acme: Fill, folder: Path, port: int, number: int, limit: int
) -> None:
    make_domains(acme, number)
    check = (20 | 1 << 19).to_bytes(4, "big")
    hours = [NOW.replace(minute=0) - timedelta(hours=n) for n in range(25)]
    EdgeHour.objects.bulk_create(
        [
            EdgeHour(domain_id=id, hour=hour, checks=check * 60, count=60, passed=60)
            for id in Domain.objects.filter(host__startswith="d").values_list("id", flat=True)
            for hour in hours
        ],
        batch_size=500,
    )
    began = time.monotonic()
    made = probe_round(NOW, probing(folder, {}, port))
    seconds = time.monotonic() - began
    sys.stderr.write(f"A round of {number:,} domains with a day of history took {seconds:.2f} seconds.\n")
    assert (made.domains, made.reachable) == (number, number)
    assert seconds < limit


def test_a_hundred_rounds_of_a_thousand_domains_are_quick_and_leave_nothing_behind(
    acme: Fill, folder: Path, port: int
) -> None:
    make_domains(acme, 1000)
    probe = probing(folder, {}, port)
    seconds, sizes, files = [], [], []
    for n in range(100):
        began = time.monotonic()
        made = probe_round(NOW + timedelta(minutes=n), probe)
        seconds.append(time.monotonic() - began)
        assert (made.domains, made.reachable) == (1000, 1000)
        gc.collect()
        sizes.append(resident())
        files.append(len(os.listdir("/proc/self/fd")))
    sys.stderr.write(
        f"A round took {median(seconds):.2f} seconds, the worst {max(seconds):.2f}. Resident after 1, 10, 50 and 100: "
        f"{sizes[0]}, {sizes[9]}, {sizes[49]}, {sizes[99]} KiB.\n"
    )
    assert max(seconds) < 15
    assert sizes[99] - sizes[9] < 8 * 1024
    assert files[99] == files[9]


def resident() -> int:
    """KiB of memory that this process has."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])
