"""make demo-platform: what make run does, and beside it a Dokploy whose deployments keep changing, as `live`.

The Dokploy and the sites that it deploys are fakes on loopback; everything else is as it would be with real ones.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import serve

SLUG = "live"
PORT = int(os.environ.get("DEMO_PLATFORM_PORT") or "8091")


def main() -> None:
    if sys.argv[1:2] == ["--fake"]:
        be_the_fake(parent=int(sys.argv[2]))
        return
    # Not before it is there: this names an organization, and a name that is none stops the start.
    os.environ.pop("LOCAL_DEV_ORG", None)
    fake = subprocess.Popen([sys.executable, __file__, "--fake", str(os.getpid())], stdout=subprocess.PIPE, text=True)
    told = fake.stdout.readline() if fake.stdout else ""
    if not told:
        sys.exit(f"The fake Dokploy does not start: is port {PORT} taken? DEMO_PLATFORM_PORT chooses another.")
    places = json.loads(told)
    # For the worker: its domains are at names that nobody can have, with certificates of an authority made just now.
    os.environ["PROBE_CONNECT_TO"] = f"*.acme.example:443=127.0.0.1:{places['sites_port']}"
    os.environ["EXTRA_CA_CERTS"] = places["authority"]
    try:
        serve.start(before=lambda: connect(places["url"], places["key"]))
    finally:  # reached only where the server did not start
        fake.terminate()


def connect(url: str, key: str) -> None:
    """Anew each time: the fake begins anew too."""
    from django.conf import settings

    from apps.orgs.models import Membership, Organization, Platform, User
    from apps.orgs.models.people import fold_email
    from apps.platforms.connecting import Wanted, store, try_key

    print("Connecting the organization live to a fake Dokploy ...", flush=True)
    organization, _ = Organization.objects.get_or_create(slug=SLUG, defaults={"name": "Live Demo"})
    user = User.objects.get(email=fold_email(settings.DEMO_EMAIL))
    Membership.objects.get_or_create(organization=organization, user=user, defaults={"role": Membership.Role.OWNER})
    Platform.objects.filter(organization=organization).delete()
    wanted = Wanted(organization=organization, kind="dokploy", base_url=url, key=key)
    store(wanted, try_key(wanted), at_once=True)
    os.environ["LOCAL_DEV_ORG"] = SLUG  # what the server sees, which this process becomes


def be_the_fake(parent: int) -> None:
    """Ends with the server, by whatever signal."""
    from tests.fakes.demo import Demo

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all: the server's last requests are still answered
    with Demo(PORT) as demo:
        print(json.dumps(demo.places), flush=True)
        is_over = threading.Event()
        threading.Thread(target=_watch, args=(parent, is_over), daemon=True).start()
        demo.keep_changing(is_over)


def _watch(parent: int, is_over: threading.Event) -> None:
    while os.getppid() == parent:
        time.sleep(0.2)
    is_over.set()


if __name__ == "__main__":
    main()
