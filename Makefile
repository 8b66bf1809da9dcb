# make demo   records ten seconds of the demo rig, validates every frame, shows the episode
# make test   the tests          make lint   style, types, import arrows          make bench   the benchmarks

VENV    := .venv
BIN     := $(VENV)/bin
READY   := $(VENV)/.ready
ROOT    := data/recordings
SECONDS := 10

# The first Python from 3.11 on that really runs (a pyenv shim may be there and not run) and can make environments.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python3.14; do \
	"$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 \
	&& { echo "$$python"; break; }; done)

.PHONY: demo test lint bench install clean
.DEFAULT_GOAL := install

install: $(READY)

$(READY): pyproject.toml requirements.lock
	@test -n "$(PYTHON)" || { echo "rigflow needs Python 3.11 or newer with its venv module:" \
		"install it (Debian, Ubuntu: apt-get install python3 python3-venv), or name one: make PYTHON=/path/to/python3" >&2; \
		exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@

# A task name of its own each time: what was recorded before is never touched.
demo: $(READY)
	@set -e; task="demo $$(date +%Y-%m-%d_%H-%M-%S)"; \
	$(BIN)/rigflow record demo --task "$$task" --root "$(ROOT)" --seconds $(SECONDS); \
	dir=$$(ls -dt "$(ROOT)"/demo*/ | head -n 1); \
	$(BIN)/rigflow validate "$$dir" --deep; \
	$(BIN)/rigflow show "$$dir" 0

test: $(READY)
	$(BIN)/python -m pytest

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
