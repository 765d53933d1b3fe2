# `make study` and `make test` work on a fresh machine with Python 3.11 or newer: they make .venv first.
PYTHON ?= python3
BIN := $(CURDIR)/.venv/bin
# a stage's `python` is the one on PATH: put the environment's first
export PATH := $(BIN):$(PATH)

.PHONY: study test lint environment clean

study: .venv/study  ## the default recipe on the synthetic world, the compared variants, report page
	@python -m stages plan
	dvc repro
	@python -m stages.report

test: .venv/test lint  ## the checks and the test suite
	OMP_NUM_THREADS=1 python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder

lint: .venv/test  ## style and types
	ruff format --check .
	ruff check .
	mypy

environment: .venv/test  ## only make .venv, with what the tests need

.venv/study: requirements.txt requirements.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=...")'
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv .venv
	python -m pip install --quiet --disable-pip-version-check -r requirements.txt -c requirements.lock
	touch $@

.venv/test: .venv/study requirements-dev.txt requirements-cluster.txt
	python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt -c requirements.lock
	touch $@

clean:  ## remove the environment and what trainings left in work/; DVC's cache stays
	rm -rf .venv work
