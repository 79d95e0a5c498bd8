# Verbs for people; CI runs the same ones.
VENV ?= .venv
BIN := $(VENV)/bin
ROUNDS ?= 20
SECONDS ?= 600
ETCD ?=

.PHONY: setup quick check test snapshots steady screenshots man bench fidelity faults soak

setup: $(BIN)/ktui  ## a virtual environment with everything in it

$(BIN)/ktui: pyproject.toml
	python3 -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

quick: check  ## style, types, layers, words, and the tests of pure rules: a minute, before each commit
	$(BIN)/pytest -n logical -q -m "not slow" tests/unit

check: setup  ## style, types, layers, words
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.words

test: setup  ## all tests
	$(BIN)/pytest -n auto

snapshots: setup  ## accept the screens as they are drawn now (read `git diff` before you commit)
	$(BIN)/pytest tests/tui -m golden --snapshot-update

steady: setup  ## every golden ROUNDS times, in another order each time; stops at the first that differs
	for seed in $$(seq $(ROUNDS)); do \
	  KTUI_SHUFFLE=$$seed $(BIN)/pytest tests/tui -m golden -n auto -x -q || exit 1; done

screenshots: setup  ## render screenshots/ from the real program
	$(BIN)/python -m tools.screenshots screenshots

man: setup  ## write the manual page from the parsers
	$(BIN)/python tools/manpage.py

bench: setup  ## benchmarks, with ratios
	$(BIN)/python -m benchmarks

fidelity: setup  ## replay the recorded answers of a real kube-apiserver (docs/fidelity.md)
	$(BIN)/python -m tools.fidelity

faults: setup  ## random faults between ktui and etcd for SECONDS, every answer checked; ETCD=FILE names the etcd
	$(BIN)/python -m tools.faults --self-test $(if $(ETCD),--etcd $(ETCD))
	$(BIN)/python -m tools.faults --seconds $(SECONDS) $(if $(ETCD),--etcd $(ETCD)) $(if $(SEED),--seed $(SEED))

soak: setup  ## the same for an hour on one server, whose memory and descriptors must not grow
	$(BIN)/python -m tools.faults --soak --seconds 3600 $(if $(ETCD),--etcd $(ETCD)) $(if $(SEED),--seed $(SEED))
