# `make study` and `make test` work on a fresh machine with Python 3.11 to 3.14: they make .venv first.
PYTHON ?= python3
FITS = import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15) and "Python 3.11 to 3.14 is needed; set PYTHON=...")
BIN := .venv/bin
# A stage's `python` is the one on PATH: the environment's comes first. An old make looks for its own commands elsewhere,
# so they have their folder here.
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Packages go into .venv, whatever pip's settings of the user or site say; where they come from is theirs to say.
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-user --target= --prefix="$(CURDIR)/.venv"

.PHONY: study test lint environment repository clean

study: repository .venv/study  ## the default recipe on the synthetic world, the compared variants, report page
	$(BIN)/dvc repro
	@$(BIN)/python -m stages.report --where

test: repository .venv/test lint  ## the checks and the test suite
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder

lint: .venv/test  ## style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

environment: .venv/test  ## only make .venv, with what the tests need

repository:
	@git rev-parse --git-dir >/dev/null || { echo "error: git finds no repository here, and DVC needs one. If git says" \
		"'not a git repository': clone the project, or run: git init && git add --all && git commit -m start" >&2; exit 1; }
	@git config user.name >/dev/null && git config user.email >/dev/null || { git config user.name "$$(id -un)" && \
		git config user.email "$$(id -un)@$$(uname -n)" && \
		echo "git knew no name of yours, which dvc exp run needs: in this folder it is $$(id -un) now."; }

# The stamp has the folder that .venv was made in: scripts of a moved or copied one would run those of the old folder.
ifneq ($(shell cat .venv/study 2>/dev/null),$(CURDIR))
.PHONY: .venv/study
endif
.venv/study: requirements.txt requirements.lock
	@$(PYTHON) -c '$(FITS)'
	@if [ -s $@ ] && [ "$$(cat $@)" != "$(CURDIR)" ]; then echo "This folder was moved or copied: .venv is made anew."; \
		rm -rf .venv; fi
	@$(BIN)/python -c 'import pip; $(FITS)' 2>/dev/null || \
		$(PYTHON) -m venv --clear "$$(cd -P ./.venv 2>/dev/null && pwd || echo .venv)"  # it makes none where a link lies
	@echo "Installing into .venv what requirements.lock lists, 1.7 GB with torch for CPUs: a minute or more."
	@$(INSTALL) -r requirements.txt -c requirements.lock
	@echo "$(CURDIR)" > $@

.venv/test: .venv/study requirements-dev.txt requirements-cluster.txt
	@echo "Installing into .venv what the tests need."
	@$(INSTALL) -r requirements-dev.txt -c requirements.lock
	@touch $@

clean:  ## remove the environment and, if you agree, what trainings left in work/; DVC's cache stays
	rm -rf .venv
	@if [ -d work ]; then printf "Delete work/, $$(du -sh work | cut -f1) of trainings and checkpoints? [y/N] "; \
		read answer; [ "$$answer" = y ] && rm -rf work || echo "kept"; fi
