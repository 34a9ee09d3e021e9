# `make demo` and `make test` need only Python 3.11 and a package registry: each makes `.venv` by itself (uv if it
# is on PATH, else venv and pip) and reuses it until pyproject.toml changes.

PYTHON ?= $(shell command -v python3.11 || command -v python3 || echo python3)
BIN := .venv/bin
UV := $(shell command -v uv 2>/dev/null)

# Inside the checkout, so that a run neither needs nor touches a home directory.
export NUMBA_CACHE_DIR := $(CURDIR)/.numba_cache
export PRISM_CACHE_DIR := $(CURDIR)/.prism_cache

# Packages are compiled to bytecode where they are imported, and kept so: all of numba and sympy would take pip 20 s.
unexport PYTHONDONTWRITEBYTECODE
ifdef UV
INSTALL := $(UV) pip install --quiet --python $(BIN)/python
else
INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile
endif

.DEFAULT_GOAL := help
ifeq ($(MAKELEVEL),0)
.NOTPARALLEL: # only `check` knows what may run side by side
endif
.PHONY: help demo warm test test-all check style doctest interpreted coverage bench evidence evidence-slice same-grades ablate docs wheel-check versions clean

help:
	@echo 'make demo      grade the shipped problems and print the tables'
	@echo 'make test      the tests, compiled kernels, of what repeats or searches a sample'
	@echo 'make test-all  all tests, before a change lands'
	@echo 'make check     style, types, import contract, doctests, site, all tests, short benchmarks: what CI runs'
	@echo 'make bench     environments of what benchmarks compare with, and of Ray'
	@echo 'make evidence  benchmarks (slow), written to benchmarks/results/'
	@echo 'make docs      the site of the documentation, into site/, without a network'
	@echo 'make same-grades  score rows and reports beside those of a base commit, byte for byte'
	@echo 'make ablate    switch each function and condition of a folder off in turn (ABLATED=prism/equivalence)'
	@echo 'make wheel-check  build the wheel, and try it in an empty folder'
	@echo 'make versions  a choice of tests with the lowest and newest dependencies, by each Python that is here'
	@echo 'make clean     remove what the other targets made'

# --- environments -------------------------------------------------------------------------------------------

$(BIN)/python:
	@echo 'making .venv'
ifdef UV
	@$(UV) venv --quiet --python '$(PYTHON)' .venv
else
	@'$(PYTHON)' -m venv .venv
endif

# Stamps: `run` has what a user installs, `dev` adds the tools.
.venv/.run: pyproject.toml | $(BIN)/python
	@echo 'installing prism-dag into .venv'
	@$(INSTALL) --editable .
	@touch $@

.venv/.dev: pyproject.toml | $(BIN)/python
	@echo 'installing prism-dag and its tools into .venv'
	@$(INSTALL) --editable '.[dev]'
	@touch .venv/.run $@

# Rivals run in environments of their own: latex2sympy2 pins ANTLR 4.7.2 and does not resolve beside math-verify.
# Ray has one too: what it needs is larger than all the rest.
RIVALS := .venv-bench .venv-latex2sympy2 .venv-ray

$(RIVALS:=/bin/python): %/bin/python:
	@echo 'making $*'
ifdef UV
	@$(UV) venv --quiet --python '$(PYTHON)' $*
else
	@'$(PYTHON)' -m venv $*
endif

.venv-bench/.made: EXTRA := bench
.venv-latex2sympy2/.made: EXTRA := bench-latex2sympy2
.venv-ray/.made: EXTRA := ray
$(RIVALS:=/.made): %/.made: pyproject.toml | %/bin/python
	@echo 'installing the extra $(EXTRA) into $*'
ifdef UV
	@$(UV) pip install --quiet --python $*/bin/python --editable '.[$(EXTRA)]'
else
	@$*/bin/python -m pip install -qq --disable-pip-version-check --editable '.[$(EXTRA)]'
endif
	@touch $@

# Frameworks whose examples are run: with pip, and torch first, for the one that uv would fetch is for a GPU.
FRAMEWORKS := .venv-trl .venv-verl
.venv-trl/.made: PACKAGES := trl transformers datasets accelerate
.venv-verl/.made: PACKAGES := verl==0.9.1

$(FRAMEWORKS:=/.made): %/.made: pyproject.toml
	@echo 'making $*, with torch'
	@'$(PYTHON)' -m venv $*
	@$*/bin/python -m pip install -qq --disable-pip-version-check torch==2.13.0
	@$*/bin/python -m pip install -qq --disable-pip-version-check $(PACKAGES) --editable .
	@touch $@

# --- targets ------------------------------------------------------------------------------------------------

demo: .venv/.run
	@$(BIN)/python -m prism demo

warm: .venv/.dev
	@$(BIN)/python -m prism warm

# Kernels are compiled once, before any test is timed or started beside another. `test` is what a newcomer waits for, in
# six minutes of processor time: of each folder what takes little, and of tests with many cases one in twelve
# (tests/support/quick_run.py). In `test-all` is all the rest, and what is marked `slow`: it decides all rows once more,
# interpreted, starts many processes, builds packages, searches the tree, reads thousands of hostile texts.
test: warm
	@PRISM_KERNELS=compiled $(BIN)/python -m pytest -m 'not slow' --quick

test-all: warm
	@PRISM_KERNELS=compiled $(BIN)/python -m pytest

style: .venv/.dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

doctest: .venv/.dev
	@PRISM_KERNELS=interpreted $(BIN)/python -m pytest --numprocesses=0 --doctest-modules prism

# The same kernels as plain Python, for the folders whose verdicts come from them. Of the slow rows one in ROWS runs here,
# chosen by its id (`make interpreted ROWS=1`: all). What is marked `slow` or `compiled` runs in `test-all` only.
ROWS := 40
DECIDING := $(addprefix tests/,algebra engine equivalence grading physics problem test_cases.py test_cli.py)
COVERAGE :=

interpreted: .venv/.dev
	@PRISM_KERNELS=interpreted $(BIN)/python -m pytest -m 'not slow and not compiled' --one-row-in=$(ROWS) $(DECIDING) $(COVERAGE)

# Where coverage can see the branches of the kernels. It takes three times as long, so `check` does without.
coverage:
	@$(MAKE) --no-print-directory interpreted COVERAGE='--cov --cov-report=term'

# mypy needs one processor and so does numba. All tests come last: their summary is the last thing a reader of the log
# sees. `make test` runs none that they do not.
check: .venv/.dev
	@$(MAKE) --no-print-directory -j2 warm style doctest
	@$(MAKE) --no-print-directory docs
	@$(MAKE) --no-print-directory interpreted
	@$(MAKE) --no-print-directory evidence-slice
	@$(MAKE) --no-print-directory test-all

# Strict: a link, an anchor or a formula that does not hold is an error. The variable silences an advertisement.
docs: .venv/.dev
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

bench: $(RIVALS:=/.made)

evidence: .venv/.dev bench $(FRAMEWORKS:=/.made)
	@$(BIN)/python benchmarks/evidence.py

# Score rows and reports of this checkout beside those of the base commit, which is checked out and graded once.
same-grades: .venv/.dev
	@$(BIN)/python benchmarks/robustness/same_grades.py

# What each function and condition of a folder is needed for; hours for a large one.
ABLATED ?= prism/equivalence
ablate: warm
	@$(BIN)/python -m benchmarks.accuracy.ablate $(ABLATED) --to ablation.jsonl

# Benchmarks of pytest-benchmark run once each and are not timed: that they run is what is checked.
evidence-slice: .venv/.dev
	@$(BIN)/python benchmarks/evidence.py --slice
	@PRISM_KERNELS=compiled $(BIN)/python -m pytest benchmarks --benchmark-disable

# In environments of its own, so that nothing of the checkout helps.
wheel-check:
	@PYTHON='$(PYTHON)' .ci/wheel

# `make versions PYTHON=python3.13 DEPENDENCIES=lowest`: only so; else all that are here.
WITH := $(if $(filter command%,$(origin PYTHON)),$(PYTHON))
versions:
	@PYTHON='$(WITH)' DEPENDENCIES='$(DEPENDENCIES)' .ci/versions

clean:
	@rm -rf .venv .same_grades $(RIVALS) $(FRAMEWORKS) .venv-doors .numba_cache .prism_cache .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage dist build site
	@git worktree prune 2>/dev/null || true # of .same_grades
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
