# `make demo` and `make test` need nothing but Python 3.11 or later, make and a package registry.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Major versions on which `make test-slow` runs the attacks.
SERVERS ?= 14 15 16 17
# Tests in processes: a module goes to one of them, until another one has nothing left to do.
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal
# Random tables that it tries per test that runs a method on them, other ones every time.
EXAMPLES ?= 10

# Modules are compiled once, not by every process and every command that a test starts.
unexport PYTHONDONTWRITEBYTECODE
# Every process would have a thread per core for matrices, which are small here.
export OPENBLAS_NUM_THREADS = 1

.PHONY: demo unit test test-slow dbt pooler check bench reproduce docs extension clean

demo: $(VENV)/.demo
	$(BIN)/pganon demo

unit: $(VENV)/.test
	$(PYTEST) -m "not slow" tests/unit $(PYTEST_ARGS)

test: $(VENV)/.test
	$(PYTEST) -m "not slow" $(PYTEST_ARGS)

test-slow: $(VENV)/.test $(VENV)/.bench $(VENV)/.docs dbt pooler
	$(PYTEST) -m "slow and not (random_tables or hypothesis)" $(PYTEST_ARGS)
	PGANON_TEST_EXAMPLES=$(EXAMPLES) \
		$(PYTEST) -m "random_tables or hypothesis" --hypothesis-profile=default $(PYTEST_ARGS)
ifneq ($(strip $(SERVERS)),)
	$(BIN)/python -m tests.support.harness.fetch_servers $(SERVERS)
	PGANON_TEST_DSN= PGANON_TEST_SERVERS="$(SERVERS)" \
		$(PYTEST) tests/adversarial $(PYTEST_ARGS)
endif

dbt: $(VENV)/.test
ifneq ($(strip $(SERVERS)),)
	$(BIN)/python -m tests.support.harness.fetch_dbt
	$(BIN)/python -m tests.support.harness.fetch_openlineage
endif

pooler: $(VENV)/.test
ifneq ($(strip $(SERVERS)),)
	$(BIN)/python -m tests.support.harness.fetch_pooler
endif

check: $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports
	$(BIN)/codespell

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

reproduce: $(VENV)/.bench
	$(BIN)/python -m benchmarks --papers --page docs/reproduction.md $(BENCH_ARGS)

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo build/site/index.html

extension: $(VENV)/.demo
	$(BIN)/pganon extension build build/extension

# What a target needs is an extra of the same name; the slow tests draw plots and build the site, too.
$(VENV)/.%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$*]'
	touch $@

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis
