"""The WSGI application of the peers on Django."""

import os

from django.core.wsgi import get_wsgi_application

os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.peers.settings"
application = get_wsgi_application()
