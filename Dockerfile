# One image for all that runs of Porthole: the server, the worker, and every command of manage.py. docs/containers.md
# Two stages from one base, which needs python3 with its venv module: the environment fits the Python that it was made by.
ARG BASE_IMAGE=python:3.13-slim-bookworm


FROM ${BASE_IMAGE} AS build
WORKDIR /srv/porthole
COPY requirements.txt ./
# Wheels only: nothing is compiled, and no package's own code runs. pip stays behind, in an environment of its own.
# Who must reach another index passes --secret id=pip,src=pip.conf, and --secret id=ca,src=ca.pem for its certificates:
# neither is kept in a layer.
RUN --mount=type=secret,id=pip,target=/etc/pip.conf --mount=type=secret,id=ca,target=/run/ca.pem \
    if [ -s /run/ca.pem ]; then export PIP_CERT=/run/ca.pem; fi \
    && python3 -m venv /tmp/pip \
    && python3 -m venv --without-pip .venv \
    && /tmp/pip/bin/pip --python .venv/bin/python install --no-cache-dir --disable-pip-version-check --no-input \
        --only-binary :all: --require-hashes --no-deps -r requirements.txt
COPY . .
# The file system will be read-only: Python's code is compiled and static files are collected now, for everybody to read.
RUN .venv/bin/python -m compileall -q -j 0 --invalidation-mode unchecked-hash apps config \
    && PORTHOLE_ENV=local DATA_DIR=/tmp/data STATIC_DIR=/srv/porthole/static \
        DJANGO_SETTINGS_MODULE=config.settings .venv/bin/python -c \
        "import django; django.setup(); from config.management import prepare; prepare.collect_static_files()" \
    && chmod -R u=rwX,go=rX .


FROM ${BASE_IMAGE}
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Porthole" \
    org.opencontainers.image.description="A read-only window into an organization's deployments" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.revision="${REVISION}"
# git reads repositories. Its version is the base's: a pinned one is gone from Debian's mirrors with its next correction.
# hadolint ignore=DL3008
RUN if ! command -v git; then \
        apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*; \
    fi \
    && useradd --no-log-init --uid 10001 --user-group --no-create-home --home-dir /nonexistent \
        --shell /usr/sbin/nologin porthole \
    && install -d -o 10001 -g 10001 -m 0700 /var/lib/porthole
COPY --from=build /srv/porthole /srv/porthole
WORKDIR /srv/porthole
# DATA_DIR is inside what is mounted: Porthole makes it, so it is its own whoever the mounted folder belongs to.
ENV PATH=/srv/porthole/.venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    DATA_DIR=/var/lib/porthole/data \
    STATIC_DIR=/srv/porthole/static
VOLUME /var/lib/porthole
USER 10001:10001
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=8s --start-period=60s --retries=3 CMD ["python", "-m", "config.ready"]
CMD ["gunicorn", "-c", "config/gunicorn.conf.py", "config.wsgi"]
