"""The WSGI application. Importing it refuses bad settings with one sentence, whatever server does it."""

import gc
import os
import sys

import django
from django.core.exceptions import ImproperlyConfigured

from config.deferred import defer

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# Packages import these for what a server of Porthole never does: DRF for a test client, django-oauth-toolkit to ask
# others of tokens, Django to split SQL, pygit2 to write archives. They take five MiB.
UNUSED = ("requests", "sqlparse", "tarfile")

# What is imported stays: the garbage collector need not go through it, neither now nor in each worker, which would
# make its own copy of memory that all share.
gc.disable()
try:
    for name in UNUSED:
        defer(name)
    # allauth imports it for passkeys, which Porthole does not offer: the list of all public suffixes, two MiB.
    defer("fido2.rpid", "verify_rp_id")
    django.setup(set_prefix=False)

    # Importable only now that Django is set up.
    from apps.web.handler import Handler
    from config.checks import refuse_bad_settings
    from config.database import bound_requests
    from config.preload import preload

    application = Handler()
    bound_requests()
    refuse_bad_settings()
    preload()
except ImproperlyConfigured as error:
    sys.exit(f"Porthole does not start: {error}")
finally:
    gc.freeze()
    gc.enable()
