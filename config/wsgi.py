"""The WSGI application. Importing it refuses bad settings with one sentence, whatever server does it."""

import gc
import os
import sys

import django
from django.core.exceptions import ImproperlyConfigured

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# What is imported stays: the garbage collector need not go through it, neither now nor in each worker, which would
# make its own copy of memory that all share.
gc.disable()
try:
    django.setup(set_prefix=False)

    # Importable only now that Django is set up.
    from apps.web.handler import Handler
    from config.checks import refuse_bad_settings
    from config.database import bound_requests

    application = Handler()
    bound_requests()
    refuse_bad_settings()

    # With --preload the workers share what this makes. Who develops starts often, and seldom asks for it.
    from django.conf import settings

    from config import openapi

    if not settings.IS_LOCAL:
        openapi.document()
except ImproperlyConfigured as error:
    sys.exit(f"Porthole does not start: {error}")
finally:
    gc.freeze()
    gc.enable()
