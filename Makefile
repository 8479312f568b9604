# Two commands do all of their own set-up on a fresh machine: `make up` and `make test`.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON := .venv/bin/python
STAMPS := build/stamps
ENGINE := workers/engine
LOAD := tests/bench/load
# One build for all tests: those of crashes need hooks at each step that changes the disk, and the
# rest runs with the hooks as well. Python's tests run the engine that is shipped, without them.
ENGINE_TESTS := --locked --quiet --features regent-commitlog/failpoints
# Tests of schedules have a build of their own, whose threads and locks are those of a scheduler.
SCHEDULE_TESTS := --locked --quiet -p regent-commitlog -p regent-replication --features regent-replication/schedules --test schedules
# Compiles what it looks at, so the set-up runs it first. `check-engine` fails where it finds something.
LINT_ENGINE := cargo clippy $(ENGINE_TESTS) --all-targets -- -D warnings
LINT_SCHEDULES := cargo clippy $(SCHEDULE_TESTS) -- -D warnings
# Crash tests make thousands of stores: in memory if there is some for files, since a disk takes as
# long as they. The few tests of cold pages, which only a disk has, choose it themselves.
ENGINE_TMPDIR := $(firstword $(wildcard /dev/shm) /tmp)
ENGINE_SOURCES := $(shell find $(ENGINE) -path '*/target' -prune -o \( -name '*.rs' -o -name '*.toml' -o -name '*.pyi' -o -name Cargo.lock \) -print)
CONSOLE_SOURCES := $(shell find frontend -path '*/node_modules' -prune -o -path '*/dist' -prune -o -type f -print)
# Every x86-64 processor runs the engine. `make bench NATIVE=1` builds it for the processor at hand alone.
ifdef NATIVE
export RUSTFLAGS := -C target-cpu=native
endif
export VIRTUAL_ENV := $(CURDIR)/.venv
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# Tests start processes of Python by the hundred; one that may not keep what it compiled makes the
# next one compile it again. What is kept lies apart from the sources.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/build/pycache

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

##  Set-up: each part is done once, and again only when what it is made from changes.

.PHONY: setup toolchain engine console
setup: toolchain ## Set up Python, the engine and the console (does nothing twice)
	@$(MAKE) --no-print-directory -j2 engine console

toolchain:
	@.ci/toolchain

engine: $(STAMPS)/engine ## Build the native engine into the virtual environment
console: $(STAMPS)/console ## Build the console

$(STAMPS)/python: requirements.lock pyproject.toml
	@mkdir -p $(@D)
	@echo "setting up Python (a minute or two the first time)"
	test -x $(PYTHON) || python3 -m venv .venv
	$(PYTHON) -m pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
	$(PYTHON) -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# Changes when the flags of the compiler do, and only then.
.PHONY: always
$(STAMPS)/engine-flags: always
	@mkdir -p $(@D)
	@echo '$(RUSTFLAGS)' | cmp --silent - $@ || echo '$(RUSTFLAGS)' > $@

$(STAMPS)/engine: $(STAMPS)/python $(STAMPS)/engine-flags $(ENGINE_SOURCES)
	@echo "building the engine"
	+cd $(ENGINE)/python && $(CURDIR)/.venv/bin/maturin develop --quiet --release --locked
	@touch $@

$(STAMPS)/engine-tests: $(ENGINE_SOURCES)
	@mkdir -p $(@D)
	@echo "building the tests of the engine"
	+cd $(ENGINE) && cargo test $(ENGINE_TESTS) --tests --no-run
	+cd $(ENGINE) && cargo test $(SCHEDULE_TESTS) --no-run
	+cd $(ENGINE) && $(LINT_ENGINE) || true
	+cd $(ENGINE) && $(LINT_SCHEDULES) || true
	+cd $(ENGINE) && cargo build --locked --quiet --release -p regent-remoting --example byte_by_byte
	@touch $@

$(STAMPS)/load: $(shell find $(LOAD) $(ENGINE)/remoting -path '*/target' -prune -o \( -name '*.rs' -o -name '*.toml' -o -name Cargo.lock \) -print)
	@mkdir -p $(@D)
	@echo "building the load generator"
	+cd $(LOAD) && cargo build --locked --quiet --release
	@touch $@

$(STAMPS)/node: frontend/package-lock.json
	@mkdir -p $(@D)
	@echo "setting up the console's packages"
	cd frontend && npm ci --no-fund --no-audit --loglevel=error
	@touch $@

$(STAMPS)/console: $(STAMPS)/node $(CONSOLE_SOURCES)
	@echo "building the console"
	cd frontend && npm run --silent build -- --logLevel warn
	@touch $@

##  Run

.PHONY: up
up: setup ## Run a whole local cluster until Ctrl-C (UP="--data DIR --http-port N …")
	@exec .venv/bin/regent up $(UP)

##  Check

FAST := check-console check-python
BUSY := check-engine test-fast
CLUSTERS := test-cluster test-integration
DURATIONS := build/durations
JUNIT = --junit-xml=$(DURATIONS)/$@.xml

.PHONY: test soak check $(FAST) $(BUSY) $(CLUSTERS) check-docker
# Tests with clusters wait for a third of their time. The tests of the engine and the unit tests take that
# time at a lower priority, so they delay no heartbeat. Pages of the console would wait for processors until
# tests fail.
test: ## Run every check there is (20 to 25 minutes after the set-up)
	@.ci/toolchain test
	@$(MAKE) --no-print-directory setup $(STAMPS)/engine-tests $(STAMPS)/load $(STAMPS)/browser $(STAMPS)/shells $(STAMPS)/interop
	@rm -rf $(DURATIONS) && mkdir -p $(DURATIONS)
	@trap '$(PYTHON) -m tests.durations $(DURATIONS)' EXIT; \
	  $(MAKE) --no-print-directory -j2 --output-sync=recurse $(FAST:%=timed-%); \
	  $(MAKE) --no-print-directory -j2 --output-sync=recurse timed-test-cluster $(BUSY:%=timed-%); \
	  $(MAKE) --no-print-directory timed-test-integration

timed-%:
	@.ci/timed $(DURATIONS)/$* $(if $(filter $*,$(BUSY)),nice -n 10) $(MAKE) --no-print-directory $*

soak: setup $(STAMPS)/engine-tests $(STAMPS)/interop $(STAMPS)/browser $(STAMPS)/go ## Run the long forms of tests (about two hours on two cores; continues with what has not passed; SOAK=--all, or SOAK="crash model …")
	@$(PYTHON) -m tests.soak $(SOAK)

check: setup ## Run the fast core: lint, types, contracts and unit tests
	@$(MAKE) --no-print-directory -j2 --output-sync=target $(BUSY) $(FAST)

check-python: $(STAMPS)/engine
	.venv/bin/ruff format --check --quiet .
	.venv/bin/ruff check --quiet .
	.venv/bin/mypy
	.venv/bin/lint-imports

# These are the tests that the set-up built: `--lib` would build the module of Python again.
# Only the commit log has hooks for tests of crashes. The lint of the schedule tests checks the
# commit log without hooks.
check-engine: $(STAMPS)/python $(STAMPS)/engine-tests
	cd $(ENGINE) && cargo fmt --all --check
	+cd $(ENGINE) && $(LINT_ENGINE)
	+cd $(ENGINE) && TMPDIR=$(ENGINE_TMPDIR) cargo test $(ENGINE_TESTS) --tests
	+cd $(ENGINE) && $(LINT_SCHEDULES)
	+cd $(ENGINE) && cargo test $(SCHEDULE_TESTS)
	cd $(LOAD) && cargo fmt --check
	+cd $(LOAD) && cargo clippy --locked --quiet --release --all-targets -- -D warnings
	+cd $(LOAD) && cargo test --locked --quiet --release

check-console: $(STAMPS)/node
	cd frontend && npm run --silent lint
	cd frontend && npm run --silent typecheck
	cd frontend && npm run --silent codegen:check
	cd frontend && npm run --silent test -- --reporter=default --reporter=junit \
	  --outputFile.junit=../$(DURATIONS)/check-console.xml

test-fast: $(STAMPS)/engine
	$(PYTHON) -m pytest -q -n 2 $(JUNIT) tests/unit tests/architecture

# A process that is done takes tests over from the one with the most left: the long ones are neighbours.
test-integration: $(STAMPS)/engine $(STAMPS)/load
	$(PYTHON) -m pytest -q -n 5 --dist worksteal $(JUNIT) tests/integration

# The files that take long come first, or one worker has the last of them alone.
test-cluster: $(STAMPS)/engine $(STAMPS)/console $(STAMPS)/browser $(STAMPS)/interop
	$(PYTHON) -m pytest -q -n 3 --dist loadfile --no-loadscope-reorder $(JUNIT) \
	  tests/system tests/chaos tests/interop

$(STAMPS)/interop: $(STAMPS)/python $(shell find tests/interop -path '*/target' -prune -o \( -name '*.java' -o -name pom.xml \) -print)
	@mkdir -p $(@D)
	@echo "building the Java programs of the interop tests"
	$(PYTHON) -m tests.interop.java
	@touch $@

# What only tests need of Debian; installing it needs root.
$(STAMPS)/browser: .ci/packages
	@mkdir -p $(@D)
	@.ci/packages chromium -- chromium fonts-dejavu-core
	@touch $@

$(STAMPS)/shells: .ci/packages
	@mkdir -p $(@D)
	@.ci/packages zsh fish -- zsh fish
	@touch $@

$(STAMPS)/go: .ci/packages
	@mkdir -p $(@D)
	@.ci/packages go -- golang-go
	@touch $@

check-docker: $(STAMPS)/python ## Check compose.yaml and the Dockerfiles as far as no engine allows
	$(PYTHON) -m pytest -q tests/architecture/test_containers.py

##  Measure, mend, clean

.PHONY: bench bench-api bench-controller bench-failover bench-page java-client interop access parity orders help-pages matrix scenarios requirements spec-index measurements fmt lock clean
bench: setup $(STAMPS)/load $(STAMPS)/interop ## Print the performance ratios of one run (half an hour; only what clients see, ours and stock in turn: BENCH=clients, 15 minutes; options: BENCH=--help; NATIVE=1: built for this processor)
	$(PYTHON) -m tests.bench $(BENCH)

bench-page: measurements ## Plot each ratio of BENCH=clients over commits, in docs/measurements.md

bench-controller: setup ## Print elections, heartbeats and route reads a second of one control plane (about three minutes)
	$(PYTHON) -m tests.bench elections

bench-api: setup ## Print the p95 of every page at 200 broker groups and 10 000 topics (about three minutes)
	$(PYTHON) -m tests.bench api

bench-failover: setup $(STAMPS)/interop ## Print how long failovers take, ours and stock's in turn (about an hour; in parts: BENCH="--into FILE --for-s 200")
	$(PYTHON) -m tests.bench.failover $(BENCH)

java-client: $(STAMPS)/interop ## Build the Java client that the README sends with, out of the stock one (a minute)

interop: setup $(STAMPS)/interop ## Run the stock Java clients against a cluster, and the stock store beside ours
	$(PYTHON) -m pytest -q tests/interop

access: $(STAMPS)/engine ## Write the table in docs/access.md, which says who may ask for what
	$(PYTHON) -m tests.access_table

parity: $(STAMPS)/engine ## Write the table in docs/mqadmin.md, which says what each command of stock's mqadmin is here
	$(PYTHON) -m tests.mqadmin_table

matrix: $(STAMPS)/engine ## Write the table in docs/doors.md, which says what is reached through which door
	$(PYTHON) -m tests.door_matrix

orders: $(STAMPS)/engine ## Write the table of parameters in docs/operations.md, and what the console makes its forms from
	$(PYTHON) -m tests.order_pages

help-pages: $(STAMPS)/engine ## Write tests/unit/cli/help, the help of every command
	$(PYTHON) -m tests.cli_help

scenarios: $(STAMPS)/python ## Write docs/scenarios.md, which says what test shows which scenario
	$(PYTHON) -m tests.scenarios

requirements: $(STAMPS)/python ## Write docs/requirements.md, which says what code and what test show which requirement of share queues
	$(PYTHON) -m tests.requirements

spec-index: $(STAMPS)/python ## Write the index in docs/spec/README.md, which says what each number means
	$(PYTHON) -m tests.spec_index

measurements: $(STAMPS)/python ## Write docs/measurements.md, which shows the runs kept beside it
	$(PYTHON) -m tests.measurements

fmt: setup ## Format everything
	.venv/bin/ruff format . && .venv/bin/ruff check --fix .
	cd $(ENGINE) && cargo fmt --all
	cd frontend && npm run --silent format

lock: ## Compile requirements.lock anew from pyproject.toml
	$(PYTHON) -m pip install -q uv
	.venv/bin/uv pip compile pyproject.toml --quiet --all-extras --generate-hashes \
	  --python-version 3.11 --no-header -o requirements.lock

clean: ## Remove what was built, and keep data
	rm -rf build .venv $(ENGINE)/target frontend/node_modules frontend/dist tests/interop/target
