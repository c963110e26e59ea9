# make cpu        first, on Linux without a GPU: torch for a CPU, without a gigabyte of CUDA
# make demo       install, measure two small language models on the starter set, write a report
# make test       what guards every change: needs Python and a package index, nothing else;
#                 `make test WING=people` runs the tests of one wing or kind alone
# make test-all   everything: also browsers, databases, peers' harnesses, simulations, published numbers
# make test-engines  vLLM itself, in process and served, in an environment of its own outside the
#                 clone (3.4 GB in ~/.cache/stereometer-engines, or where STEREOMETER_ENGINES says)
# make bench      speed, as ratios and counts (not part of the tests)
# make docs       the documentation site, in site/
# make reference  docs/reference, written again from the code

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
DEMO := stereometer-runs/demo
# Percent of the lines of src that all tests together must run (decision 15).
FLOOR := 96
# Nothing is written outside .venv; three processes for two cores, because many tests wait.
export PYTHONDONTWRITEBYTECODE := 1
export HYPOTHESIS_STORAGE_DIRECTORY := $(CURDIR)/.venv/hypothesis
PYTEST := -m pytest -n 3 --dist worksteal --durations 10

.PHONY: cpu demo models test test-all test-engines style packages bench docs reference clean
.DELETE_ON_ERROR:

.venv/pip:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "pip>=25.1"
	@touch $@

.venv/run: .venv/pip pyproject.toml constraints.txt
	$(PIP) -e ".[lexicon]"
	@touch $@

# uv knows where the builds for a CPU are; the version is that of constraints.txt, so that it stays.
cpu: .venv/pip
	$(PIP) uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --torch-backend cpu -c constraints.txt torch

# torch before anything that would ask for it; on Linux the usual build brings CUDA (`make cpu`).
.venv/hf: .venv/run
	$(PIP) torch
	$(PIP) -e ".[lexicon,hf]"
	@touch $@

.venv/test: .venv/hf
	$(PIP) -e ".[lexicon,hf,train,mitigate,web,postgres]" --group test
	@touch $@

.venv/dev: .venv/test
	$(PIP) --group dev --group docs
	@touch $@

# The models are in the user's cache: the list of their folders says nothing once they are gone.
models: .venv/hf
	@[ -s .venv/models ] && xargs ls -d < .venv/models >/dev/null 2>&1 && exit 0; \
	for name in smollm2-135m minilm-mlm; do \
	  $(BIN)/stereometer model add $$name --json > .venv/$$name.json || exit 1; \
	done; \
	$(BIN)/python -c "import json; [print(json.load(open(f'.venv/{name}.json'))['folder']) for name in ('smollm2-135m', 'minilm-mlm')]" > .venv/models

demo: models
	$(BIN)/stereometer run starter -m smollm2-135m -m minilm-mlm --out $(DEMO)
	$(BIN)/stereometer report $(DEMO) -o stereometer-report.html

style:
	$(BIN)/ruff format --check --no-cache .
	$(BIN)/ruff check --no-cache .
	$(BIN)/lint-imports --no-logo --no-cache

ALONE = $(or $(wildcard tests/wings/$(WING) tests/kinds/$(WING)),$(error no wing or kind is called $(WING)))

test: .venv/test style
	$(BIN)/python $(PYTEST) -m "not long" $(if $(WING),$(ALONE))

test-all: packages .venv/dev models .venv/harnesses/ready style
	$(BIN)/mypy --cache-dir .venv/mypy
	$(BIN)/python -m slipcover --json --out .venv/coverage.json $(PYTEST) --no-skips
	$(BIN)/python -m slipcover --merge .venv/coverage.json --out .venv/coverage.json --fail-under $(FLOOR)

# Two harnesses on top of our packages, in an environment of their own: Inspect wants an older fsspec.
.venv/harnesses/ready: .venv/dev
	$(BIN)/python -m venv --clear .venv/harnesses
	$(BIN)/python -c "import site; print(site.getsitepackages()[0])" > $$(.venv/harnesses/bin/python -c "import site; print(site.getsitepackages()[0])")/ours.pth
	.venv/harnesses/bin/python -m pip install --quiet --no-compile --disable-pip-version-check lm_eval==0.4.13 inspect_ai==0.3.285
	@touch $@

# Takes minutes, so nothing else calls it. Warnings are vLLM's own.
ENGINES := $(or $(STEREOMETER_ENGINES),$(HOME)/.cache/stereometer-engines)
test-engines:
	tests/engines/environment.sh $(ENGINES) $(PYTHON)
	$(ENGINES)/bin/stereometer model add smollm2-135m
	$(ENGINES)/bin/python -m pytest -W ignore -p no:unraisableexception --durations 10 tests/engines

# Debian's packages for test-all: a browser, PostgreSQL for a cluster that the tests start and end
# (the system's own is not touched), nginx and openssl for a study behind a proxy on loopback.
packages:
	@missing=; \
	command -v chromium >/dev/null 2>&1 || missing="$$missing chromium"; \
	ls -d /usr/lib/postgresql/*/bin >/dev/null 2>&1 || missing="$$missing postgresql"; \
	command -v nginx >/dev/null 2>&1 || missing="$$missing nginx"; \
	command -v openssl >/dev/null 2>&1 || missing="$$missing openssl"; \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	  echo "make test-all installs these system packages with apt-get:$$missing"; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing >/dev/null; \
	else \
	  echo "make test-all needs these system packages, and only root can install them:$$missing"; \
	  echo "Without them its tests of browsers, PostgreSQL and nginx fail. \`make test\` needs none of them."; \
	fi

bench: .venv/dev models
	$(BIN)/python -m bench

.venv/docs: .venv/pip pyproject.toml constraints.txt
	$(PIP) --group docs
	@touch $@

# Strict: a broken link or anchor fails the build.
docs: .venv/docs
	$(BIN)/zensical build --clean --strict

reference: .venv/run
	$(BIN)/python docs/generate.py

clean:
	rm -rf .venv site stereometer-runs stereometer-report.html
