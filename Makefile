# Two commands: `make demo` and `make test`. Each does all the set-up that it needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test test-slow lint types contracts tests bench screenshots clean help

help:
	@echo "make demo       set up, then replay the founding incident"
	@echo "make test       set up, then lint, types, import contracts and tests"
	@echo "make test-slow  the long tests, too"
	@echo "make screenshots  pictures of the terminal UI, for the README"
	@echo "make bench      print the ratios that we hold ourselves to"

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $(STAMP)

demo: $(STAMP)
	$(BIN)/hypotree demo

test: lint types contracts tests

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

contracts: $(STAMP)
	$(BIN)/lint-imports

tests: $(STAMP)
	$(BIN)/pytest -m "not slow" -n 2

test-slow: $(STAMP)
	$(BIN)/pytest -n 2

bench: $(STAMP)
	$(BIN)/python tests/bench/run.py

screenshots: $(STAMP)
	$(BIN)/python -m hypotree.tui.screenshots docs/screenshots

clean:
	rm -rf $(VENV)
