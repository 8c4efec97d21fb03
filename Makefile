# Every task of this repository; `make help` lists them. The work is done by scripts in local/, so that each can also be run by hand.
SHELL := bash
.DEFAULT_GOAL := help
SCENARIO ?= demo
FLEET ?= full
PYTHON := .venv/bin/python
export PATH := $(CURDIR)/.local/tools/bin:$(PATH)
# Some environments forbid Python to keep its compiled modules. Demo and tests start dozens of interpreters, and each would compile
# every library again: some seconds of CPU each time.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help
help: ## list every task
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## install what the other tasks need (skips what is there)
	@echo "setup"; local/setup.sh

.PHONY: demo
demo: setup ## run everything with a simulated fleet until Ctrl-C (SCENARIO=? lists what it can show)
	@exec setpriv --pdeathsig TERM -- $(PYTHON) -m wallwatch_local demo --scenario '$(SCENARIO)'

.PHONY: dev
dev: setup ## the same stack with the backend and the UI in hot reload, until Ctrl-C
	@exec setpriv --pdeathsig TERM -- $(PYTHON) -m wallwatch_local dev --scenario '$(SCENARIO)'

.PHONY: ui
ui: ## look at the pages without a backend, in hot reload (FLEET=full, large: 40,000 RNICs, empty or broken)
	@local/setup.sh runtimes frontend && npm --prefix frontend run --silent ui -- '$(FLEET)'

.PHONY: pictures
pictures: ## take a picture of every page, and show those that differ from the accepted ones (ARGS=accept, or a part of a name)
	@local/setup.sh runtimes frontend && node frontend/scripts/pictures.mjs $(ARGS)

.PHONY: demo-reset
demo-reset: ## remove the demo's state
	@local/setup.sh python && $(PYTHON) -m wallwatch_local demo-reset

.PHONY: test
test: ## run all tests, or those of some parts: make test PART="lint go" (PART=? lists them)
	@local/test.sh $(PART)

.PHONY: test-fast
test-fast: ## run the tests that need no server, browser or build: pure Python, frontend, Go
	@local/test.sh --fast

.PHONY: test-servers
test-servers: ## start PostgreSQL and Kafka for the tests and keep them up between runs
	@local/setup.sh python postgres kafka && $(PYTHON) -m wallwatch_local test-servers start

.PHONY: test-servers-stop
test-servers-stop: ## stop them and remove their data
	@local/setup.sh python && $(PYTHON) -m wallwatch_local test-servers stop

.PHONY: bench
bench: setup ## run the benchmarks; one JSON line each
	@$(PYTHON) -m wallwatch.jobs.compile_stage >&2
	@$(PYTHON) -m tests.bench

.PHONY: bench-check
bench-check: setup ## has anything become slower? compares ratios to a reference with the committed ledger (ARGS="--update" writes it)
	@$(PYTHON) -m wallwatch.jobs.compile_stage >&2
	@$(PYTHON) -m tests.bench.ledger $(ARGS)

.PHONY: evaluate
evaluate: setup ## how good is the classifier? random scenarios and played hosts, judged; writes docs/evaluation.md (ARGS=--help)
	@$(PYTHON) -m tests.evaluation $(ARGS)
	@[ -n "$(ARGS)" ] || $(PYTHON) -m tests.raw_hosts --write
	@[ -n "$(ARGS)" ] || $(PYTHON) -m tests.evaluation.demo_hour --write
	@[ -n "$(ARGS)" ] || $(PYTHON) -m tests.forecast
	@[ -n "$(ARGS)" ] || $(PYTHON) -m tests.forecast.live
	@[ -n "$(ARGS)" ] || $(PYTHON) -m tests.plans
	@[ -n "$(ARGS)" ] || $(PYTHON) -m tests.isolation_series --write
	@[ -n "$(ARGS)" ] || $(PYTHON) -m tests.isolation_assumptions --seeds 3 --first 101 --write
	@[ -n "$(ARGS)" ] || PYTHONPATH=tests/support nice $(PYTHON) -m tests.lab_evaluation --write

.PHONY: kubernetes
kubernetes: setup ## try what Wallwatch says to Kubernetes on a real API server, built from Go modules (minutes, the first time)
	@local/kubernetes.sh

.PHONY: clients
clients: setup ## try programs of others: kcat on the topics, Alerta as receiver, a Python client of the API (installs them)
	@local/setup.sh clients && WALLWATCH_CLIENTS=$(CURDIR)/.local/tools/clients $(PYTHON) -m pytest -q -rs backend/tests/clients $(ARGS)

.PHONY: sensitivity
sensitivity: setup ## how much does each threshold of the rules matter? moves each by a fifth; writes docs/sensitivity.md (ARGS=--help)
	@$(PYTHON) -m tests.evaluation --record-only catalogue development
	@nice $(PYTHON) -m tests.evaluation.sensitivity $(ARGS)

.PHONY: evaluate-forecasts
evaluate-forecasts: setup ## how good are forecasts? simulated fleets, recorded and judged; writes docs/forecast-evaluation.md (ARGS=--help)
	@$(PYTHON) -m tests.forecast $(ARGS)
	@[ -n "$(ARGS)" ] || $(PYTHON) -m tests.forecast.live

.PHONY: base-model
base-model: setup ## train the forecast model that Wallwatch ships, on simulated fleets (ARGS=--help)
	@$(PYTHON) -m tests.forecast.base_model $(ARGS)

.PHONY: evaluate-plans
evaluate-plans: setup ## what are mask plans worth? simulated cards with and without them; writes docs/plan-evaluation.md (ARGS=--help)
	@$(PYTHON) -m tests.plans $(ARGS)

.PHONY: isolation-simulations
isolation-simulations: setup ## do PicNIC's mechanisms do what the paper says? simulates them; writes docs/isolation-simulations.md
	@nice $(PYTHON) -m tests.isolation_simulations --write

.PHONY: mutate
mutate: setup ## would the tests notice? changes the code bit by bit and runs them, at most an hour; writes docs/mutation.md (ARGS=--help)
	@nice $(PYTHON) -m tests.mutation $(ARGS)

.PHONY: schemathesis
schemathesis: setup ## does the API keep to its description? ten times the generated input of a test run (ARGS are pytest's)
	@WALLWATCH_SCHEMATHESIS_EXAMPLES=150 WALLWATCH_SCHEMATHESIS_SEQUENCES=300 WALLWATCH_SCHEMATHESIS_PATHS=. \
		WALLWATCH_SCHEMATHESIS_RECORD=.local/schemathesis.jsonl \
		nice $(PYTHON) -m pytest --timeout 3600 backend/tests/test_schemathesis.py $(ARGS)

.PHONY: weaknesses
weaknesses: setup ## does a test fail without each fix of the security review? takes them out one by one; writes docs/security.md
	@nice $(PYTHON) -m tests.weaknesses $(or $(ARGS),--write)

.PHONY: faults
faults: setup ## 200 random faults on the demo in an hour: is anything lost or doubled? writes docs/fault-campaign.md (ARGS=--help)
	@local/setup.sh faults && $(PYTHON) -m tests.faults_campaign $(or $(ARGS),--write)

.PHONY: audit
audit: setup ## are known weaknesses in the dependencies? Python, Go and npm; says what could not be checked (exit 3)
	@local/setup.sh audit && $(PYTHON) -m wallwatch_local audit

.PHONY: images
images: setup ## build both images without a container engine, start every process of Compose from them, and try it (as root; minutes)
	@local/setup.sh images && $(PYTHON) -m wallwatch_local images
	@$(MAKE) --no-print-directory images-check

.PHONY: images-check
images-check: ## try the images that are built
	@WALLWATCH_IMAGES=yes $(PYTHON) -m pytest -q -rs tests/contract/images $(ARGS)

.PHONY: image-digests
image-digests: ## are the digests of pinned images those of their registry? needs docker or crane; says what could not be checked (exit 3)
	@local/setup.sh python && $(PYTHON) -m wallwatch_local image-digests

.PHONY: sbom
sbom: setup ## write the list of what each image contains (CycloneDX) to dist/sbom
	@local/setup.sh audit && $(PYTHON) -m wallwatch_local sbom

.PHONY: lint
lint: ## check style, types and the arrows between the parts
	@local/test.sh lint

.PHONY: format
format: ## bring Python, Go and TypeScript sources into their standard form
	@local/setup.sh python && .venv/bin/ruff check --fix-only --quiet . && .venv/bin/ruff format . && gofmt -w collectors && npm --prefix frontend run --silent format

.PHONY: generate
generate: setup ## write what is generated: API description, its TypeScript types, tables in docs/
	@local/generate.sh

.PHONY: scenario-plots
scenario-plots: setup ## record every scenario and draw the plots of docs/scenarios.md (some minutes)
	@PYTHONPATH=tests/support nice $(PYTHON) -m scenario_plots

.PHONY: docs-check
docs-check: setup ## fail when something generated is out of date
	@local/generate.sh --check
