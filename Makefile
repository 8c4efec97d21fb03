# Every task of this repository; `make help` lists them. The work is done by scripts in local/, so that each can also be run by hand.
SHELL := bash
.DEFAULT_GOAL := help
SCENARIO ?= demo
PYTHON := .venv/bin/python
export PATH := $(CURDIR)/.local/tools/bin:$(PATH)

.PHONY: help
help: ## list every task
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## install what the other tasks need (skips what is there)
	@echo "setup"; local/setup.sh

.PHONY: demo
demo: setup ## run everything with a simulated fleet until Ctrl-C (SCENARIO=? lists what it can show)
	@exec setpriv --pdeathsig TERM -- $(PYTHON) -m wallwatch_local demo --scenario '$(SCENARIO)'

.PHONY: demo-reset
demo-reset: ## remove the demo's state
	@local/setup.sh python && $(PYTHON) -m wallwatch_local demo-reset

.PHONY: test
test: ## run all tests: Go, Python, frontend, integration, browser
	@local/test.sh

.PHONY: bench
bench: setup ## run the benchmarks; one JSON line each
	@$(PYTHON) -m tests.bench

.PHONY: evaluate
evaluate: setup ## how good is the classifier? random scenarios, recorded and judged; writes docs/evaluation.md (ARGS=--help)
	@$(PYTHON) -m tests.evaluation $(ARGS)
	@[ -n "$(ARGS)" ] || $(PYTHON) -m tests.forecast
	@[ -n "$(ARGS)" ] || $(PYTHON) -m tests.plans

.PHONY: evaluate-forecasts
evaluate-forecasts: setup ## how good are forecasts? simulated fleets, recorded and judged; writes docs/forecast-evaluation.md (ARGS=--help)
	@$(PYTHON) -m tests.forecast $(ARGS)

.PHONY: evaluate-plans
evaluate-plans: setup ## what are mask plans worth? simulated cards with and without them; writes docs/plan-evaluation.md (ARGS=--help)
	@$(PYTHON) -m tests.plans $(ARGS)

.PHONY: lint
lint: setup ## check style, types and the arrows between the parts
	@local/test.sh --only lint

.PHONY: format
format: ## bring Python and Go sources into their standard form
	@local/setup.sh python && .venv/bin/ruff check --fix-only --quiet . && .venv/bin/ruff format . && gofmt -w collectors

.PHONY: generate
generate: setup ## write what is generated: API description, its TypeScript types, tables in docs/
	@local/generate.sh

.PHONY: scenario-plots
scenario-plots: setup ## record every scenario and draw the plots of docs/scenarios.md (some minutes)
	@PYTHONPATH=tests/support nice $(PYTHON) -m scenario_plots

.PHONY: docs-check
docs-check: setup ## fail when something generated is out of date
	@local/generate.sh --check
