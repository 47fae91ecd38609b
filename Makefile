# `make demo` and `make test` need nothing but Python 3.11 or later, make and a package registry.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Major versions on which `make test-slow` runs the attacks. `make test` runs them on the newest,
# and on another one that is installed.
SERVERS ?= 14 15 16 17

.PHONY: demo test test-slow check bench clean

demo: $(STAMP)
	$(BIN)/pganon demo

test: $(STAMP)
	$(BIN)/python -m pytest -n auto -m "not slow" $(PYTEST_ARGS)

test-slow: $(STAMP)
	$(BIN)/python -m pytest -m slow $(PYTEST_ARGS)
ifneq ($(strip $(SERVERS)),)
	$(BIN)/python -m tests.support.fetch_servers $(SERVERS)
	PGANON_TEST_DSN= PGANON_TEST_SERVERS="$(SERVERS)" \
		$(BIN)/python -m pytest -n auto -m "not slow" tests/adversarial $(PYTEST_ARGS)
endif

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports
	$(BIN)/codespell

bench: $(STAMP)
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis
