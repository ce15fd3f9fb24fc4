# Every check that CI makes is a target here. `make` alone lists them.

PYTHON ?= python3
bin := .venv/bin
# maturin, and pyo3 under every cargo command, take this environment's Python.
export VIRTUAL_ENV := $(CURDIR)/.venv
export PIP_QUIET := 1

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

# --- environment and build ---

# What is tested before a commit and what is measured is the build that is released. All else has
# one for development (Cargo.toml), with the instruction sets of this machine alone.
PROFILE := quick
test test-oldest test-newest test-torch bench: PROFILE := release
levels = $(if $(filter quick,$(PROFILE)),PKEX_LEVELS=native)
develop = $(levels) $(bin)/maturin develop --profile $(PROFILE) --quiet

# The environment: made once, and brought up to date when what it holds changed. The core compiles
# meanwhile.
.venv/demo: pyproject.toml Cargo.toml
	$(levels) cargo build --profile $(PROFILE) --quiet --package pkex-core &
	test -x $(bin)/python || $(PYTHON) -m venv .venv
	$(bin)/python -m pip install --upgrade pip
	$(bin)/pip install --group build
	$(develop) --extras demo
	touch $@

# With what the checks need.
.venv/installed: .venv/demo
	$(bin)/pip install --group dev
	$(develop) --extras demo,pandas,polars,progress,shap
	touch $@

.PHONY: build
build: .venv/installed ## build the extension module in place
	$(develop) --skip-install

# --- checks ---

# $(call pytest,COMMAND,MARKS): side by side, a process a core and in each one thread of BLAS; then
# one by one the tests that measure the machine itself.
define pytest
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 \
	    $(1) --numprocesses auto --dist worksteal -m "not alone$(2)" && \
	$(1) -m "alone$(2)"
endef

.PHONY: check
check: lint ## the quick loop: lint, types, stubs and the fast tests, in under three minutes
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

# With other libraries than `make test` has, the slow tests are left out: they would say the same.
empty :=
quick := $(empty) and not slow

# Without the tests that depend on NumPy alone, or hold every class to one contract, which adapters'
# own tests do as well. Libraries of that age warn of their own age.
.PHONY: test-oldest
test-oldest: build .venv-oldest/installed ## the Python tests with the oldest libraries
	$(call pytest,.venv-oldest/bin/python -m pytest -W default tests \
	    --ignore=tests/execution/test_behaviour.py --ignore=tests/execution/test_reproducibility.py \
	    --ignore=tests/games --ignore=tests/kernels --ignore=tests/functions \
	    --ignore=tests/contracts --ignore-glob='*/test_any_*.py',$(quick))

# The package is the one built in place, by its entry in the other environment.
.venv-oldest/installed: tools/oldest.txt .venv/installed
	test -x .venv-oldest/bin/python || $(bin)/python -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --upgrade pip
	.venv-oldest/bin/pip install --constraint tools/oldest.txt --group test --group libraries \
	    --group oldest
	cp -R .venv/lib/python3*/site-packages/pkex* .venv-oldest/lib/python3*/site-packages/
	touch $@

# Made anew each time: what is newest changes by itself. Where nothing in it differs from the
# environment of `make test`, that has run the tests.
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

# torch comes with gigabytes of libraries for other hardware: what is made here is removed again.
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
fuzz: .venv/installed ## play the methods against each other on random games
	BOLERO_RANDOM_TEST_TIME_MS=$(FUZZ_SECONDS)000 \
	    cargo test --package pkex-fuzz -- --show-output

# cargo-deny: `cargo install --locked cargo-deny`. Advisories come last: they are fetched.
.PHONY: deny
deny: ## check licences, sources, versions and advisories of the crates
	cargo deny check bans licenses sources
	cargo deny check advisories

.PHONY: surface
surface: build ## renew the snapshot of what is public, after a change that is meant
	$(bin)/python tests/shared/public_surface.py

# On a machine with fused multiply-add.
.PHONY: golden
golden: ## renew the digests of results' bits, after a change of the engine's rounding that is meant
	PKEX_RENEW_GOLDEN=1 cargo test --package pkex-core --test engine golden
	git diff --stat rust/pkex-core/tests/engine/golden.txt

.PHONY: format
format: .venv/installed ## lay out all code, and mend what ruff can mend
	cargo fmt --all
	$(bin)/ruff check --fix
	$(bin)/ruff format

# --- to look at ---

# A warning is an error, and so is a link that leads nowhere.
.PHONY: docs
docs: build ## the documentation as a site, in docs/_build/html
	rm -rf docs/api
	$(bin)/sphinx-build -M html docs docs/_build --fail-on-warning --keep-going --quiet
	$(bin)/python tools/check_site.py docs/_build/html

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
counts-renew: $(counted) ## make today's counts the limits, after a change that is meant
	$(counted) renew

# --- the wheel ---

# Built against an old glibc through zig; then a model is explained in an empty environment, where
# PATH holds no compiler and pip may not build anything, and the demo runs with no more than its
# extra.
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

.PHONY: clean
clean: ## remove all that was made
	cargo clean
	rm -rf .venv .venv-newest .venv-oldest .venv-torch .venv-wheel .*_cache .hypothesis .benchmarks dist pkex-demo
	rm -rf docs/_build docs/api docs/gallery
	rm -f python/pkex/_core.*.so python/pkex/_core.*.pyd
	find python tests benches tools -name __pycache__ -prune -exec rm -rf {} +
