# adgen: what can be made here. `make help` lists it; every target does its own set-up.
SHELL := /bin/bash
.DEFAULT_GOAL := help

VENV := .venv
PYTHON := $(VENV)/bin/python
PIP := $(PYTHON) -m pip --disable-pip-version-check
ADGEN := $(VENV)/bin/adgen
STEP := MAKE_LOG=.make.log .ci/step
WORKERS ?= 2

.PHONY: help setup demo test lint examples bench report-gpu report-openmp report-operators lock clean

help: ## list what can be made
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/.adgen ## virtual environment, Python packages, LLVM, Enzyme, adgen's passes: all pinned
	@$(ADGEN) toolchain install >/dev/null

demo: setup ## the Greeks of an option chain from an unmodified CUDA program
	@$(PYTHON) examples/black_scholes/demo.py

test: setup lint ## all tests (those for a GPU where there is one), after the linters
	@$(PYTHON) -m pytest -q -n $(WORKERS) --dist worksteal --all-needs tests

lint: $(VENV)/.adgen ## ruff and mypy
	@$(STEP) 'ruff' $(VENV)/bin/ruff check .
	@$(STEP) 'ruff format' $(VENV)/bin/ruff format --check .
	@$(STEP) 'mypy' $(VENV)/bin/mypy enzyme_driver tests

examples: setup ## compile and run every example
	@$(MAKE) --no-print-directory -C examples examples run ADGEN=$(abspath $(ADGEN)) PYTHON=$(abspath $(PYTHON))

bench: setup ## measure adgen itself: compilation, warm start, import
	@$(PYTHON) benchmarks/compile_time.py

report-gpu: setup ## build/report-gpu.html: what was measured on a GPU, tables and plots from benchmarks/results
	@$(PYTHON) -m benchmarks.report build/report-gpu.html

report-operators: setup ## build/report-operators.html: the tensor operators and their gradients, from benchmarks/results
	@$(PYTHON) -m benchmarks.operators_report build/report-operators.html

report-openmp: setup ## build/report-openmp.html: what was measured on the host
	@$(PYTHON) -m benchmarks.openmp_report build/report-openmp.html

lock: ## resolve all Python packages anew and write requirements.lock
	@rm -rf build/lock
	@.ci/make-venv build/lock
	@$(STEP) 'resolving' build/lock/bin/python -m pip install --upgrade '.[compile,cuda,examples,dev]' hatchling
	@head -n 1 requirements.lock > build/requirements.lock
	@build/lock/bin/python -m pip freeze --exclude adgen >> build/requirements.lock
	@mv build/requirements.lock requirements.lock

clean: ## remove what was made in this folder (not adgen's data and cache folders)
	rm -rf $(VENV) build dist .make.log .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info

$(VENV)/.python: .ci/make-venv
	@: > .make.log
	@$(STEP) 'making $(VENV)' .ci/make-venv $(VENV)
	@touch $@

$(VENV)/.packages: requirements.lock $(VENV)/.python
	@$(STEP) 'installing Python packages' $(PIP) install --requirement requirements.lock
	@touch $@

$(VENV)/.adgen: pyproject.toml $(VENV)/.packages
	@$(STEP) 'installing adgen' $(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@
