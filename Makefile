# GNU make and a POSIX shell; Python 3.11 or newer. `make help` lists the targets.

PYTHON = python3
# What `make test` installs on top of the torch-free core: `make test EXTRAS=` leaves it at the core.
EXTRAS = all
PORT = 8888
# How many times as many inputs `make fuzz` tries as `make test-all`.
FUZZ = 20
# What `make test-releases` installs.
RELEASES = oldest newest torch
# What `make check` compares with.
BASE = main
# More for pip, such as an index of CPU-only torch wheels.
PIP_ARGS =

# Where Python may not keep what it compiled, every process of the tests compiles all of it again.
export PYTHONDONTWRITEBYTECODE =

start := notebooks/00_start_here.ipynb
comma := ,
bin := .venv/bin
lab_ready := .venv/.ready-lab
docs_ready := .venv/.ready-docs
release_ready := .venv/.ready-release
site_ready := .venv/.ready-site
test_ready := .venv/.ready-test-$(subst $(comma),+,$(strip $(EXTRAS)))
test_extras := lab,test$(if $(strip $(EXTRAS)),$(comma)$(strip $(EXTRAS)))
# What codespell reads.
prose := README.md CONTRIBUTING.md CHANGELOG.md CITATION.cff Makefile nbmetrics docs notebooks paper tests website binder
pip := $(bin)/python -m pip --disable-pip-version-check --quiet install $(PIP_ARGS) -c constraints.txt
npm_ready := tests/js/node_modules/.ready
biome := tests/js/node_modules/.bin/biome check --config-path=tests/js --error-on-warnings nbmetrics/labs website
# A file of tests stays in one process: it shares its tables and its notebooks; tests/conftest.py orders them.
pytest := $(bin)/python -m pytest -n auto --maxprocesses=4 --dist loadfile --no-loadscope-reorder
# All tests, each with all of its inputs: `make test-all`, or ALL=1 for a part of it.
ifdef ALL
pytest := NBMETRICS_FUZZ=1 $(pytest) -m ''
endif

.PHONY: help lab site docs release-check test test-all check lint lint-js format bench bench-guard fuzz pictures clean
.PHONY: calibrate check-extras coverage test-threadless test-pyodide test-python test-cores test-releases test-browser test-pytest test-js test-js-types test-changed

help:
	@echo "make lab      open the notebooks in JupyterLab   (PORT=8888, BROWSER=none opens no browser)"
	@echo "make site     the site, plain files for any static host, into site/   (SITE_ARGS=--no-notebooks is quicker)"
	@echo "make check    lint, types, and the tests of what changed since the branch main   (BASE=main), under a minute"
	@echo "make test     lint, types, and the tests that can run here   (EXTRAS= leaves torch and friends out)"
	@echo "              parts of it: test-python  test-browser  test-js  test-js-types"
	@echo "make test-all the same with the slow tests and all of their inputs: half an hour"
	@echo "make test-cores the Python tests with OpenBLAS kernels of other processors, one thread and two: half an hour"
	@echo "make test-threadless the Python tests of the labs where no thread can start, as in Pyodide"
	@echo "make test-pyodide the engine in Pyodide under Node, against CPython; fetches a distribution once, 77 MB"
	@echo "make test-releases the Python tests with the oldest and the newest releases that pyproject.toml allows, and with"
	@echo "              torch and torchvision as the index serves them, 5.5 GB   (RELEASES=\"oldest newest torch\")"
	@echo "make coverage  the Python tests, and the share of lines and branches that they run; red below the floor of pyproject.toml"
	@echo "make check-extras  one run of pip's resolver over every extra, without constraints.txt; installs nothing"
	@echo "make lint     ruff, mypy, codespell, and biome for the pages' JavaScript and CSS"
	@echo "make format   the fixes and layout of ruff and biome"
	@echo "make bench    a table of speeds beside other libraries"
	@echo "make bench-guard  this tree's speed beside that of the commit before, in turn; red if slower   (BASE=HEAD^)"
	@echo "make calibrate  how often intervals hold, tests reject and alarms sound: the tables of the guides   (QUICK=1: a few runs)"
	@echo "make fuzz     hostile input to everything, more of it than in the tests; writes docs/fuzz.md   (FUZZ=20 times)"
	@echo "make docs     the guides and the API reference as a site in docs/_build"
	@echo "make release-check  wheel and sdist, built, installed in a bare environment and tried"
	@echo "make pictures  those of the README, the guides and notebook 00, of the present labs; wants a Chromium"
	@echo "make clean    remove .venv, caches and build output"
	@echo "PYTHON=python3.12 names the Python that .venv is made from; PIP_ARGS=... is passed to pip."

$(bin)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "nbmetrics needs Python 3.11 or newer; name one: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv .venv

# A stamp is made only after pip succeeded, so an interrupted set-up is taken up again.
$(lab_ready): pyproject.toml constraints.txt | $(bin)/python
	@echo "Setting up .venv for the labs (the first time takes a minute) ..."
	@$(pip) -e '.[lab]'
	@touch $@

$(site_ready): pyproject.toml constraints.txt | $(bin)/python
	@echo "Setting up .venv for the site (the first time takes a minute) ..."
	@$(pip) -e '.[lab,site]'
	@touch $@ $(lab_ready)

$(test_ready): pyproject.toml constraints.txt | $(bin)/python
	@echo "Setting up .venv with [$(test_extras)] (the first time takes minutes) ..."
	@$(pip) -e '.[$(test_extras)]'
	@$(bin)/python -m tests.torch_pair
	@touch $@ $(lab_ready)

$(docs_ready) $(release_ready): .venv/.ready-%: pyproject.toml constraints.txt | $(bin)/python
	@$(pip) -e '.[$*]'
	@touch $@

# JUPYTER_CONFIG_PATH adds our server config to the user's own instead of replacing it. Importing rfc3987_syntax builds a
# grammar of web addresses, a second of the processor, for a format of jsonschema that no schema of JupyterLab has.
lab_server := import sys; sys.modules["rfc3987_syntax"] = None; from jupyterlab.labapp import main; main()
lab: $(lab_ready)
	@JUPYTER_CONFIG_PATH="$(CURDIR)/binder$${JUPYTER_CONFIG_PATH:+:$$JUPYTER_CONFIG_PATH}"; \
	export JUPYTER_CONFIG_PATH; \
	set -- --port=$(PORT) --log-level=WARN --LabApp.default_url=/lab/tree/$(start); \
	if [ "$$BROWSER" = none ]; then set -- "$$@" --no-browser; unset BROWSER; fi; \
	if [ "$$(id -u)" = 0 ]; then set -- "$$@" --allow-root; fi; \
	exec $(bin)/python -c '$(lab_server)' "$$@"

site: $(site_ready)
	@$(bin)/python -m website $(SITE_ARGS)

# Every stage runs whatever the others said; pytest comes last, so its summary is what one sees.
test check: $(test_ready)
	@failed=; \
	for stage in lint test-js test-js-types $(if $(filter check,$@),test-changed,test-pytest); do \
	  echo; echo "== $$stage"; \
	  $(MAKE) --no-print-directory $$stage || failed="$$failed $$stage"; \
	done; \
	if [ -n "$$failed" ]; then echo "make $@ FAILED in:$$failed"; exit 1; fi; \
	echo "make $@ passed; lines beginning with SKIPPED say what did not run here, and why."

test-all:
	@$(MAKE) --no-print-directory test ALL=1

# Browsers and Python side by side: while one waits, the other computes.
test-pytest: $(test_ready)
	@$(pytest)

test-python: $(test_ready)
	@$(pytest) --ignore=tests/browser

# Pages and JavaScript are not counted: coverage reads Python.
coverage: $(test_ready)
	@$(pytest) --ignore=tests/browser --cov --cov-report=term

test-browser: $(test_ready)
	@$(pytest) tests/browser

test-changed: $(test_ready)
	@paths=$$(BASE=$(BASE) $(bin)/python -m tests.changed) && echo $$paths && $(pytest) $$paths

# As other processors would run them: other kernels of OpenBLAS, one thread and two; tests/cores.py.
test-cores: $(test_ready)
	@$(bin)/python -m tests.cores -n auto --maxprocesses=4 --dist loadfile --no-loadscope-reorder --ignore=tests/browser

# As where Python runs in the page; tests of threads themselves are left out (tests/threadless.py).
test-threadless: $(test_ready)
	@NBMETRICS_TEST_THREADLESS=1 $(pytest) tests/labs tests/features

# Real Pyodide; NBMETRICS_PYODIDE=folder names a distribution, else one is fetched into .pyodide/ (tests/pyodide/).
test-pyodide: $(test_ready)
	@NBMETRICS_FETCH_PYODIDE=1 $(bin)/python -m pytest tests/pyodide -m '' -n 0

# In environments of their own: .venv-oldest, .venv-newest and .venv-torch.
test-releases:
	@$(PYTHON) -m tests.releases $(RELEASES)

# constraints.txt could hide a conflict of newer releases, and what is installed another: pip is to know neither.
check-extras: | $(bin)/python
	@$(bin)/python -m pip --disable-pip-version-check --quiet install $(PIP_ARGS) --dry-run --ignore-installed '.[all]' && \
	  echo "every extra of pyproject.toml installs beside the others"

test-js:
	@if ! command -v node >/dev/null; then \
	  echo "SKIPPED JavaScript tests: no node on PATH; install Node.js 20 or newer, then make test-js"; \
	else node --test tests/js/*.test.js; fi

$(npm_ready): tests/js/package.json
	@npm install --prefix tests/js --no-package-lock --no-audit --no-fund --loglevel=error
	@touch $@

test-js-types:
	@if ! command -v npm >/dev/null; then \
	  echo "SKIPPED JavaScript types: no npm on PATH; install Node.js 20 or newer, then make test-js-types"; \
	elif ! $(MAKE) --no-print-directory $(npm_ready); then \
	  echo "SKIPPED JavaScript types: npm could not install what tests/js/package.json names; with a network, make test-js-types"; \
	else tests/js/node_modules/.bin/tsc -p tests/js && echo "tsc: no complaints"; fi

lint: $(test_ready)
	@failed=0; \
	$(bin)/ruff check . || failed=1; \
	$(bin)/ruff format --check . || failed=1; \
	$(bin)/mypy || failed=1; \
	$(bin)/codespell $(prose) || failed=1; \
	$(MAKE) --no-print-directory lint-js || failed=1; \
	exit $$failed

lint-js:
	@if ! command -v npm >/dev/null; then \
	  echo "SKIPPED lint of page files: no npm on PATH; install Node.js 20 or newer, then make lint-js"; \
	elif ! $(MAKE) --no-print-directory $(npm_ready); then \
	  echo "SKIPPED lint of page files: npm could not install what tests/js/package.json names; with a network, make lint-js"; \
	else $(biome); fi

format: $(test_ready)
	@$(bin)/ruff check --fix . ; $(bin)/ruff format .
	@if [ -x tests/js/node_modules/.bin/biome ]; then $(biome) --write; else echo "SKIPPED page files: make lint-js installs biome"; fi

bench: $(test_ready)
	@$(bin)/python -m tests.benchmarks

# As many seconds as the parent commit takes, within a fifth. BASE=main compares with another one; STORE=1 writes its
# counts.json instead, ONLY="KID FLD" takes fewer figures.
bench-guard: BASE = HEAD^
bench-guard: $(test_ready)
	@$(bin)/python -m tests.benchmarks.guard --base=$(BASE) $(if $(ONLY),--only $(ONLY)) $(if $(STORE),--store)

# Tables of docs/intervals.md and others. QUICK=1 takes a few runs of each setting, NAMES="places survival" fewer reports.
calibrate: $(test_ready)
	@$(bin)/python -m tests.calibration $(if $(QUICK),--quick) $(NAMES)

# Nothing is written unless every input ended well.
fuzz: $(test_ready)
	@report=$$(mktemp) && trap 'rm -f "$$report"' EXIT && \
	NBMETRICS_FUZZ=$(FUZZ) NBMETRICS_FUZZ_REPORT="$$report" \
	  $(bin)/python -m pytest -q -n 2 --timeout=7200 -m '' $(wildcard tests/test_fuzz*.py) && \
	$(bin)/python -m tests.fuzz_page "$$report" > docs/fuzz.md && cat docs/fuzz.md

pictures: $(test_ready)
	@$(bin)/python -m tests.pictures

docs: $(docs_ready)
	@$(bin)/python -m sphinx -q -n -W --keep-going -b html docs docs/_build && echo "docs/_build/index.html"

release-check: $(release_ready)
	@$(bin)/python -m tests.release

clean:
	rm -rf .venv build dist site docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis tests/js/node_modules tests/browser/shots
	find nbmetrics notebooks tests website binder docs -name __pycache__ -prune -exec rm -rf {} +
	find notebooks -name .ipynb_checkpoints -prune -exec rm -rf {} +
