# adgen: what can be made here. `make help` lists it; every target does its own set-up.
SHELL := /bin/bash
.DEFAULT_GOAL := help

VENV := .venv
PYTHON := $(VENV)/bin/python
PIP := $(PYTHON) -m pip --disable-pip-version-check
ADGEN := $(VENV)/bin/adgen
STEP := MAKE_LOG=.make.log .ci/step
WORKERS ?= 2
MACHINE := $(shell uname -m)
ARCH ?= $(MACHINE)
SYSROOT := build/sysroot-$(ARCH)
CXX_SOURCES := $(foreach room,passes worker host_runtime frameworks,'enzyme_driver/$(room)/*.cpp' 'enzyme_driver/$(room)/*.h')

.PHONY: help setup demo test test-unit test-passes test-host test-programs lint wheel examples bench
.PHONY: docs report-gpu report-lr report-openmp report-operators report-scan compile-commands lock clean

help: ## list what can be made
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/.adgen ## virtual environment, Python packages, LLVM, Enzyme, adgen's passes: all pinned
	@$(ADGEN) toolchain install >/dev/null

demo: setup ## the Greeks of an option chain from an unmodified CUDA program
	@$(PYTHON) examples/black_scholes/demo.py

test: setup $(VENV)/.dev lint ## all tests (those for a GPU where there is one), after the linters
	@$(PYTHON) -m pytest -q -n $(WORKERS) --dist worksteal --all-needs tests

test-unit: $(VENV)/.dev ## what needs no compiler
	@$(PYTHON) -m pytest -q -n $(WORKERS) tests/unit

test-passes: setup $(VENV)/.dev ## FileCheck tests of adgen's LLVM passes
	@$(PYTHON) -m pytest -q -n $(WORKERS) --all-needs tests/passes

test-host: setup $(VENV)/.dev ## toolchain, front end and gradients on the host, without the programs
	@$(PYTHON) -m pytest -q -n $(WORKERS) --dist worksteal --all-needs tests/toolchain tests/openmp \
	    --ignore tests/openmp/test_programs.py

test-programs: setup $(VENV)/.dev ## gradients of the user-like programs of tests/programs on the host
	@$(PYTHON) -m pytest -q -n $(WORKERS) --dist worksteal --all-needs tests/openmp/test_programs.py

lint: $(VENV)/.dev ## ruff, mypy and clang-format
	@$(STEP) 'ruff' $(VENV)/bin/ruff check .
	@$(STEP) 'ruff format' $(VENV)/bin/ruff format --check .
	@$(STEP) 'mypy' $(VENV)/bin/mypy enzyme_driver tests
	@$(STEP) 'clang-format' $(VENV)/bin/clang-format --dry-run --Werror $$(git ls-files $(CXX_SOURCES))

examples: setup $(VENV)/.dev ## compile and run every example
	@$(MAKE) --no-print-directory -C examples examples run ADGEN=$(abspath $(ADGEN)) PYTHON=$(abspath $(PYTHON))

bench: setup ## measure adgen itself: compilation, warm start, import
	@$(PYTHON) benchmarks/compile_time.py

report-gpu: setup $(VENV)/.dev ## build/report-gpu.html: what was measured on a GPU, tables and plots from benchmarks/results
	@$(PYTHON) -m benchmarks.report build/report-gpu.html

report-operators: setup $(VENV)/.dev ## build/report-operators.html: the tensor operators and their gradients, from benchmarks/results
	@$(PYTHON) -m benchmarks.operators_report build/report-operators.html

report-scan: setup $(VENV)/.dev ## build/report-scan.html: back-propagation as a parallel scan, from benchmarks/results
	@$(PYTHON) -m benchmarks.scan_report build/report-scan.html

report-lr: setup $(VENV)/.dev ## build/report-lr.html: training by likelihood ratios, and products on Tensor Cores
	@$(PYTHON) -m benchmarks.lr_report build/report-lr.html

report-openmp: setup $(VENV)/.dev ## build/report-openmp.html: what was measured on the host
	@$(PYTHON) -m benchmarks.openmp_report build/report-openmp.html

docs: $(VENV)/.dev ## build/site: the documentation as a site, every warning an error
	@NO_MKDOCS_2_WARNING=1 $(STEP) 'building the site' $(PYTHON) -m mkdocs build --config-file docs/site/mkdocs.yml
	@echo build/site/index.html

compile-commands: setup ## build/compile_commands.json: how each C++ file is compiled, for clangd and others
	@mkdir -p build
	@$(PYTHON) .ci/compile_commands.py build/compile_commands.json

lock: ## resolve all Python packages anew: requirements.lock, and requirements-dev.lock with what tests need
	@rm -rf build/lock
	@.ci/make-venv build/lock
	@$(STEP) 'installing uv' build/lock/bin/python -m pip install uv
	@.ci/lock build/lock/bin/uv

wheel: $(VENV)/.dev ## dist/: the wheel with adgen's own code compiled, and the sdist; ARCH=aarch64 for Linux on Arm
	@SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) && export SOURCE_DATE_EPOCH && \
	if [ $(ARCH) != $(MACHINE) ]; then $(STEP) 'taking libraries of $(ARCH)' .ci/arm-packages $(SYSROOT) \
	    bookworm libstdc++-12-dev libatomic1; fi && \
	$(STEP) 'compiling for the wheel' $(PYTHON) -m enzyme_driver.toolchain.bundle build/built $(ARCH) $(SYSROOT) && \
	$(STEP) 'making wheel and sdist' $(PYTHON) -m hatchling build -t wheel -t sdist && \
	$(STEP) 'checking the wheel' .ci/check-wheel dist $(ARCH)

clean: ## remove what was made in this folder (not adgen's data and cache folders)
	rm -rf $(VENV) build dist .make.log .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info

$(VENV)/.python: .ci/make-venv
	@: > .make.log
	@$(STEP) 'making $(VENV)' .ci/make-venv $(VENV)
	@touch $@

$(VENV)/.packages: requirements.lock $(VENV)/.python
	@$(STEP) 'installing Python packages' $(PIP) install --requirement requirements.lock
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.adgen
	@$(STEP) 'installing what tests, documents and examples need' $(PIP) install --requirement requirements-dev.lock
	@touch $@

$(VENV)/.adgen: pyproject.toml $(VENV)/.packages
	@$(STEP) 'installing adgen' $(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@
