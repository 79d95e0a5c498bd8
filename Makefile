# Verbs for people; CI runs the same ones.
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: setup check test snapshots screenshots bench

setup: $(BIN)/ktui  ## a virtual environment with everything in it

$(BIN)/ktui: pyproject.toml
	python3 -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

check: setup  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: setup  ## all tests
	$(BIN)/pytest -n auto

snapshots: setup  ## accept the pictures as they are drawn now (look at them first)
	$(BIN)/pytest tests/tui --snapshot-update

screenshots: setup  ## render screenshots/ from the real program
	$(BIN)/python tools/screenshots.py screenshots

bench: setup  ## benchmarks, with ratios
	$(BIN)/python -m benchmarks
