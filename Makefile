# Every command of the project. `make demo` and `make test` set up what they need.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUST_SOURCES := $(shell find rust -name '*.rs') Cargo.toml Cargo.lock
# The pinned peers are oracles of tests/peers; a machine that cannot have them skips those.
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help venv build demo test lint format bench check-shards check-formats pictures chromium clean

help:
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

# The runtime alone: what a user of the package gets.
$(VENV)/.built: $(BIN)/python pyproject.toml $(RUST_SOURCES)
	$(BIN)/python -m pip install --quiet --group dev -e '.[all]'
	@touch $@

build: $(VENV)/.built ## set up .venv and compile

$(VENV)/.peers: $(VENV)/.built
	$(BIN)/python -m pip install --quiet --group peers
	@touch $@

demo: build ## train, save, reload, encode and decode on the Python library's own sources
	$(BIN)/python -m examples.demo

$(VENV)/.browser: $(VENV)/.built
	$(BIN)/python -m pip install --quiet --group browser
	@touch $@

# Debian's, and only where root can have it; elsewhere the tests in tests/browser say that they
# were skipped, and why.
chromium: ## install the browser that tests/browser drives
	@if command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
		|| command -v google-chrome >/dev/null || [ -n "$$SUBWORD_CHROMIUM" ]; then exit 0; \
	elif ! command -v apt-get >/dev/null || [ "$$(id -u)" != 0 ]; then \
		echo "no Chromium, and only root on Debian installs it here: tests/browser is skipped"; \
	else (apt-get update && DEBIAN_FRONTEND=noninteractive \
		apt-get install -y --no-install-recommends chromium fonts-dejavu-core) >/dev/null 2>&1 \
		|| echo "apt-get could not install Chromium: tests/browser is skipped"; fi

test: $(VENV)/.peers $(VENV)/.browser ## run every test
	cargo test --quiet --release
	$(BIN)/python -m pytest -q -n auto

lint: build ## format check, types, stub, import order, clippy
	cargo fmt --check
	cargo clippy --release --all-targets --quiet -- -D warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest subword._core
	$(BIN)/lint-imports

format: build ## write what lint checks
	cargo fmt
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

check-shards: build ## read shards with the library of each format, in environments of their own
	$(BIN)/python tests/check_shards.py

check-formats: $(VENV)/.peers ## convert real vocabularies to every format; compare ids on 10 MB
	$(BIN)/python tests/check_formats.py

bench: build ## measure against the peers (see docs/performance.md)
	$(BIN)/python -m benchmarks

pictures: $(VENV)/.browser ## draw docs/pictures from the real page
	$(BIN)/python -m examples.playground_pictures

clean:
	rm -rf $(VENV) target dist
