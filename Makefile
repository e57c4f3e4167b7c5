# What there is to run. A recipe is a command or two; what is longer is a script in bin/.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run demo-platform test test-fast soak audit sbom check check-code openapi docs screenshots bench requirements packages environment npm-packages install check-deploy
BIN := .venv/bin
# Checks need Django's settings, but nobody's database and nothing outside the checkout.
LOCAL := env -u DATABASE_URL -u DATABASE_URL_FILE PORTHOLE_ENV=local DATA_DIR=build/check
MANAGE := $(LOCAL) $(BIN)/python manage.py
# Only make soak makes calls up, and reading schemathesis takes seconds.
PYTEST := $(BIN)/python -m pytest -n logical --dist worksteal -p no:schemathesis
SQLITE := env -u DATABASE_URL -u DATABASE_URL_FILE
POSTGRESQL := $(BIN)/python bin/postgres.py --
# Tests start hundreds of processes: each would compile our code anew where somebody forbids Python to keep it.
unexport PYTHONDONTWRITEBYTECODE
# For example: make test ARGS="-k cursor"
ARGS :=

help: ## List what there is to run
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-14s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## Do everything that is needed, then serve the demo on http://localhost:8000 (PORT=8001 moves it)
	@bin/run

demo-platform: ## The same, and beside it a fake Dokploy that keeps changing, connected to the organization live
	@bin/run demo_platform.py

test: packages npm-packages ## Run all tests on SQLite, and beside them on PostgreSQL what it might answer otherwise (ARGS="-k cursor" narrows both)
	@TMPDIR="$$(bin/temporary-folder)" bin/side-by-side '$(POSTGRESQL) $(PYTEST) $(ARGS)' '$(SQLITE) $(PYTEST) $(ARGS)'

test-fast: environment ## Run what needs neither PostgreSQL nor other programs: for the inner loop, under a minute
	$(SQLITE) env TEST_RUN=fast $(PYTEST) $(ARGS)

soak: packages npm-packages ## Run what takes longer than a minute: before an issue is closed
	@bin/soak

check: environment ## Lint, types, layers, migrations, production settings, openapi.json, docs, typed clients
	@bin/side-by-side "bin/check-clients tests/openapi.json" "$(MAKE) --no-print-directory check-code"

check-code:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(LOCAL) $(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(MANAGE) makemigrations --check --dry-run
	bin/check-production
	bin/check-deploy lint
	$(MANAGE) openapi --check tests/openapi.json
	$(MANAGE) docs --check
	$(BIN)/python -m benchmarks.page --check

openapi: environment ## Rewrite tests/openapi.json, the published contract
	$(MANAGE) openapi tests/openapi.json

docs: environment ## Rewrite what README.md and docs/ say of tools, from the tools
	$(MANAGE) docs

screenshots: packages environment ## Take docs/images/ anew, of a make demo-platform that runs beside it (PORT says where)
	$(BIN)/python bin/screenshots.py

bench: environment ## Compare answers over HTTP with those of other frameworks, and measure syncs (docs/performance.md)
	@bin/bench-packages
	$(SQLITE) $(BIN)/python -m benchmarks.bench $(ARGS)
	$(SQLITE) $(POSTGRESQL) $(BIN)/python benchmarks/in_process.py
	$(SQLITE) $(POSTGRESQL) $(BIN)/python benchmarks/syncs.py

install: ## Put Porthole on this machine, with systemd and Caddy (PUBLIC_URL=https://…; docs/running.md); again: upgrade it
	@bin/install

check-deploy: environment ## Lint every file in deploy/, and follow docs/ from an empty Debian to an answer (CHECK_DEPLOY_PARTIAL=ok: what is left out is no error)
	@bin/check-deploy $(ARGS)

audit: environment npm-packages ## Ask for known vulnerabilities in what is pinned
	@bin/auditors
	@$(BIN)/python bin/audit.py

sbom: environment ## Write what an installation is made of to build/porthole.cdx.json (CycloneDX)
	@bin/sbom

requirements: environment ## Pin what pyproject.toml asks for, with hashes
	bin/requirements $(ARGS)

packages:
	@bin/system-packages

environment:
	@bin/environment dev

npm-packages: environment
	@bin/npm-packages
