# Every check of CI is a target here. `make` without a target lists them.

PYTHON ?= python3
bin := .venv/bin
# maturin, and pyo3 in every cargo command, use the Python of this environment.
export VIRTUAL_ENV := $(CURDIR)/.venv
export PIP_QUIET := 1

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

# --- environment and build ---

# `make test` and the benchmarks use the release build. Other targets use a development profile
# (Cargo.toml), with the instruction sets of this machine only.
PROFILE := quick
test test-oldest test-newest test-torch bench: PROFILE := release
levels = $(if $(filter quick,$(PROFILE)),PKEX_LEVELS=native)
develop = $(levels) $(bin)/maturin develop --profile $(PROFILE) --quiet

# The environment: made once, and updated when its requirements change. The core compiles in
# parallel.
.venv/demo: pyproject.toml Cargo.toml
	$(levels) cargo build --profile $(PROFILE) --quiet --package pkex-core &
	test -x $(bin)/python || $(PYTHON) -m venv .venv
	$(bin)/python -m pip install --upgrade pip
	$(bin)/pip install --group build
	$(develop) --extras demo
	touch $@

# With the tools of the checks.
.venv/installed: .venv/demo
	$(bin)/pip install --group dev
	$(develop) --extras demo,pandas,polars,progress,shap
	touch $@

.PHONY: build
build: .venv/installed ## build the extension module in place
	$(develop) --skip-install

# --- checks ---

# $(call pytest,COMMAND,MARKS): tests in parallel, one process per core with one thread of BLAS; then
# one by one the tests that measure the machine.
define pytest
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 \
	    $(1) --numprocesses auto --dist worksteal -m "not alone$(2)" && \
	$(1) -m "alone$(2)"
endef

.PHONY: check
check: lint ## the quick loop: lint, types, stubs and the fast tests, in about five minutes
	cargo test --workspace --quiet
	$(call pytest,$(bin)/pytest, and not slow)

.PHONY: lint
lint: build ## rustfmt, clippy, ruff, mypy, spelling, and the stubs against the built module
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	$(bin)/ruff check
	$(bin)/ruff format --check
	$(bin)/mypy
	$(bin)/codespell
	$(bin)/python -m mypy.stubtest pkex._core

.PHONY: test
test: lint ## everything that must hold before a commit
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --quiet
	cargo test --workspace
	$(call pytest,$(bin)/pytest)

# With other versions of libraries than in `make test`, the slow tests are skipped: they would add
# nothing.
empty :=
quick := $(empty) and not slow

# Without tests that depend on NumPy only, and without contract tests, whose promises the tests of
# adapters cover as well. Old libraries raise deprecation warnings.
.PHONY: test-oldest
test-oldest: build .venv-oldest/installed ## the Python tests with the oldest libraries
	$(call pytest,.venv-oldest/bin/python -m pytest -W default tests \
	    --ignore=tests/execution/test_behaviour.py --ignore=tests/execution/test_reproducibility.py \
	    --ignore=tests/games --ignore=tests/kernels --ignore=tests/functions \
	    --ignore=tests/contracts --ignore-glob='*/test_any_*.py',$(quick))

# Uses the package that was built in place for the other environment.
.venv-oldest/installed: tools/oldest.txt .venv/installed
	test -x .venv-oldest/bin/python || $(bin)/python -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --upgrade pip
	.venv-oldest/bin/pip install --constraint tools/oldest.txt --group test --group libraries \
	    --group oldest
	cp -R .venv/lib/python3*/site-packages/pkex* .venv-oldest/lib/python3*/site-packages/
	touch $@

# Made again each time, because newest versions change. If they are those of `make test`, that has
# run the tests.
.PHONY: test-newest
test-newest: build ## the Python tests with the newest Python and libraries
	"$$($(bin)/python tools/newest_python.py)" -m venv --clear .venv-newest
	.venv-newest/bin/python -m pip install --upgrade pip
	.venv-newest/bin/pip install --group test --group libraries
	@versions() { $$1/bin/python -V; $$1/bin/pip freeze --exclude pkex; }; \
	versions .venv >.venv-newest/known; \
	if versions .venv-newest | grep -vxFf .venv-newest/known; then \
	    cp -R .venv/lib/python3*/site-packages/pkex* .venv-newest/lib/python3*/site-packages/ && \
	    $(call pytest,.venv-newest/bin/python -m pytest,$(quick)); \
	else echo "The newest Python and libraries are those of .venv: make test has tested them."; fi

# torch installs gigabytes of libraries for other hardware, so the environment is removed again.
.PHONY: test-torch
test-torch: build ## the tests of GPyTorch's and BoTorch's models
	$(bin)/python -m venv --clear .venv-torch
	trap 'rm -rf .venv-torch' EXIT; \
	.venv-torch/bin/python -m pip install --upgrade pip && \
	.venv-torch/bin/pip install --no-cache-dir --no-compile --group test --group torch && \
	cp -R .venv/lib/python3*/site-packages/pkex* .venv-torch/lib/python3*/site-packages/ && \
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 .venv-torch/bin/python -m pytest \
	    --numprocesses auto --dist worksteal -k torch tests/torch \
	    tests/contracts/test_explainable.py tests/pages

FUZZ_SECONDS ?= 60

.PHONY: fuzz
fuzz: .venv/installed ## compare the methods with each other on random games
	BOLERO_RANDOM_TEST_TIME_MS=$(FUZZ_SECONDS)000 \
	    cargo test --package pkex-fuzz -- --show-output

# cargo-deny: `cargo install --locked cargo-deny`. Advisories come last, because they are downloaded.
.PHONY: deny
deny: ## check licenses, sources, versions and advisories of the crates
	cargo deny check bans licenses sources
	cargo deny check advisories

.PHONY: surface
surface: build ## renew the list of public names, after an intended change
	$(bin)/python tests/shared/public_surface.py

# On a machine with fused multiply-add.
.PHONY: golden
golden: ## renew the digests of results' bits, after an intended change of rounding
	PKEX_RENEW_GOLDEN=1 cargo test --package pkex-core --test engine golden
	git diff --stat rust/pkex-core/tests/engine/golden.txt

.PHONY: format
format: .venv/installed ## format all code, and apply ruff's fixes
	cargo fmt --all
	$(bin)/ruff check --fix
	$(bin)/ruff format

# --- site, demo, benchmarks ---

# Warnings and links that lead nowhere are errors.
.PHONY: docs
docs: build ## the documentation as a site, in docs/_build/html
	rm -rf docs/api
	$(bin)/sphinx-build -M html docs docs/_build --fail-on-warning --keep-going --quiet
	$(bin)/python tools/check_site.py docs/_build/html

# tools/reproduce.py --full NAME runs one with the settings of the paper.
.PHONY: reproduce
reproduce: build ## run the experiments of the papers, and write docs/reproduction.md
	$(bin)/python tools/reproduce.py

.PHONY: demo
demo: .venv/demo ## explain three models of scikit-learn and draw the result
	$(develop) --skip-install
	$(bin)/python -m pkex demo

.PHONY: bench
bench: build ## measure the crate and the package
	cargo bench --package pkex-bench
	$(bin)/pytest benches/python --benchmark-only

counted := target/release/counts
.PHONY: $(counted)
$(counted):
	env -u RUSTFLAGS cargo build --release --quiet --package pkex-bench --bin counts

.PHONY: counts
counts: $(counted) ## count instructions (valgrind), and look for calls and spills (objdump)
	$(PYTHON) tools/check_assembly.py $(counted)
	$(counted)

.PHONY: counts-renew
counts-renew: $(counted) ## make the current counts the limits, after an intended change
	$(counted) renew

# --- the wheel ---

# Built against an old glibc with zig. Then a model is explained in an empty environment without a
# compiler, where pip may not build anything, and the demo runs with its extra only.
.PHONY: wheel
wheel: .venv/installed ## build a manylinux wheel and try it without Rust
	$(bin)/pip install --group wheel
	rm -rf dist .venv-wheel
	PATH="$(CURDIR)/$(bin):$$PATH" $(bin)/maturin build --release --quiet --zig \
	    --compatibility manylinux_2_17 --out dist
	$(PYTHON) -m venv .venv-wheel
	PATH=$(CURDIR)/.venv-wheel/bin; export PATH; \
	    pip install --only-binary :all: dist/pkex-*.whl scikit-learn && \
	    python -I tools/check_wheel.py && \
	    pip install --only-binary :all: "$$(echo dist/pkex-*.whl)[demo]" && \
	    pkex demo --output .venv-wheel/pictures

# As root, on Debian. The first call makes a Debian system of 5 GB in that folder.
PLATFORMS_FOLDER ?= /var/tmp/pkex-platforms

.PHONY: platforms
platforms: ## build wheels for other platforms, and test what emulators can run
	tools/check_platforms.sh $(PLATFORMS_FOLDER) $(PLATFORMS)

.PHONY: clean
clean: ## remove everything that was built
	cargo clean
	rm -rf .venv .venv-newest .venv-oldest .venv-torch .venv-wheel .*_cache .hypothesis .benchmarks dist pkex-demo
	rm -rf docs/_build docs/api docs/gallery
	rm -f python/pkex/_core.*.so python/pkex/_core.*.pyd
	find python tests benches tools -name __pycache__ -prune -exec rm -rf {} +
