# Two commands do everything on a fresh machine with Python 3.11 or newer: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
WORKERS ?= 2

.PHONY: help demo test suite check browser format docs bench study calibrate ray sklearn-suite matrix release hooks clean
.DEFAULT_GOAL := help

help:  ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

demo: $(VENV)/.user  ## set up, then show on real data how flattering the winner's score is
	$(BIN)/outfold demo

# Tests start many processes; with bytecode, they start sooner, also where the environment forbids Python to write it.
test: $(VENV)/.dev browser  ## set up, lint, type-check, run all tests
	$(BIN)/python -m compileall -q src tests
	$(MAKE) --no-print-directory -j 2 suite check

suite: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --durations=40 --durations-min=5

check: $(VENV)/.dev  ## lint, types, direction of imports, spelling and style of the pages
	$(BIN)/ruff check src tests benchmarks studies tools examples docs/conf.py docs/pictures
	$(BIN)/ruff format --check src tests benchmarks studies tools examples docs/conf.py docs/pictures
	$(BIN)/codespell src examples docs README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md SECURITY.md
	$(BIN)/python tools/style.py
	$(BIN)/mypy
	$(BIN)/lint-imports

# The tests of the report look at it in a real browser; without one they are left out, and say so.
browser:  ## install Chromium and its driver for the tests of the report, where that can be done
	@if command -v chromedriver >/dev/null && { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium chromium-driver >/dev/null \
		|| echo "Chromium could not be installed: the tests of the report in a browser are left out."; \
	else echo "No browser: install Chromium and chromedriver (Debian: sudo apt-get install chromium chromium-driver)."; fi

format: $(VENV)/.dev  ## put the code into the house format
	$(BIN)/ruff check --fix src tests benchmarks studies tools examples docs/conf.py docs/pictures
	$(BIN)/ruff format src tests benchmarks studies tools examples docs/conf.py docs/pictures

# The pages, the reference from the docstrings, and the examples, which are run. A warning is an error.
docs: $(VENV)/.docs  ## build the site into docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "The site is in docs/_build/html/index.html."

bench: $(VENV)/.bench  ## speed side by side with the plain way, as ratios
	$(BIN)/python benchmarks/bbc.py
	$(BIN)/python benchmarks/large.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/collect.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/compare.py
	$(BIN)/python benchmarks/bootstrap.py
	$(BIN)/python benchmarks/report.py
	$(BIN)/python benchmarks/search.py paper2015 families unrelated heavy nested
	$(BIN)/python benchmarks/layers.py
	-$(BIN)/python benchmarks/dropping.py
	-$(BIN)/python benchmarks/search.py paper2018

# A quick part: `make study NAME=fold-number`; all of it: `FULL=1`, for an hour `FULL=1 MINUTES=60`, by two processes `JOBS=2`. Without
# a name: the front page of all studies. `RAW` is the folder of finished units, `DATA` that of the data sets.
study: $(VENV)/.user  ## make tables and figures of the papers again, NAME=... [FULL=1]
	$(BIN)/python studies/run.py $(NAME) $(if $(FULL),--full) $(if $(MINUTES),--minutes $(MINUTES)) \
		$(if $(JOBS),--jobs $(JOBS)) $(if $(RAW),--raw $(RAW)) $(if $(DATA),--data $(DATA))

# One environment: `make matrix ENVIRONMENTS=oldest`; fewer tests: `make matrix MATRIX=--quick`.
matrix: $(VENV)/bin/python  ## run the tests on the oldest and newest dependencies, without extras, on every Python
	$(BIN)/python tools/matrix.py $(MATRIX) --workers $(WORKERS) $(ENVIRONMENTS)

release: $(VENV)/.dev  ## build a release, check it and try it in clean environments; uploads nothing
	$(BIN)/python tools/release.py $(RELEASE)

hooks: $(VENV)/.dev  ## check every commit before it is made
	$(PIP) install pre-commit
	$(BIN)/pre-commit install

# Options of pytest: `make sklearn-suite SUITE='--tb=short -k refit'`.
sklearn-suite: $(VENV)/.dev  ## run scikit-learn's own tests of its searches on SelectCV
	$(BIN)/python tests/sklearn_suite/run.py $(SUITE)

calibrate: $(VENV)/.dev  ## slow statistical checks, five hundred faults and 20,000 spoilt files
	$(BIN)/python -m pytest -m calibration tests/calibration
	OUTFOLD_FAULTS=tests/faults/results.json $(BIN)/python -m pytest -m calibration tests/faults tests/fuzz

# Ray listens on every address of a machine, so that its tests run in a network of their own, which has loopback only.
ray: $(VENV)/.dev  ## run the tests of Ray, which is large and so not installed by `make test`
	$(PIP) install -e '.[ray]'
	unshare --map-root-user --net sh -c 'ip link set lo up && $(BIN)/python -m pytest tests/fitting/test_ray.py'

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "outfold needs Python 3.11 or newer, this is " + sys.version)'
	$(PYTHON) -m venv $(VENV)

# An environment that was there already may have a pip that knows no dependency groups.
$(VENV)/.user: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --upgrade 'pip>=25.1'
	$(PIP) install -e '.[all]'
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.user
	$(PIP) install --upgrade 'pip>=25.1'
	$(PIP) install --group dev
	@touch $@

$(VENV)/.docs: pyproject.toml $(VENV)/.user
	$(PIP) install --upgrade 'pip>=25.1'
	$(PIP) install --group docs
	@touch $@

$(VENV)/.bench: pyproject.toml $(VENV)/.dev
	$(PIP) install --group bench
	@touch $@

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) .matrix dist docs/_build docs/gallery docs/reference/api .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
