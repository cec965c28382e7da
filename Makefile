# `make` without a target lists the targets. Each target does all the set-up that it needs.
SHELL := /bin/bash
PYTHON ?= python3
export PYTHON
unexport PYTHONDONTWRITEBYTECODE # without bytecode files each part of a box takes three times as long to start
BIN := .venv/bin
ARGS ?=
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-shuffled check format bench run release voices image sign test-boxes test-image docs lock clean distclean

help:
	@echo "Interlude: a voice appliance that stops talking when you start."
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' Makefile
	@echo
	@echo "The first verb sets everything up and says how long that takes; later ones start in seconds."
	@echo "Each installs the Debian packages that it lacks (scripts/tools.txt), and says which."

demo: setup ## a whole conversation in a simulated room, with its picture (rehearsal/)
	@$(BIN)/interlude demo $(ARGS)

test: setup-test ## all tests; ARGS="-k ring" for some, "-m 'not process'" for the quick ones
	@$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder $(ARGS)

test-shuffled: setup-test ## all tests ten times, each time in another order of their files; ARGS as for test
	@scripts/shuffled.sh $(ARGS)

check: setup-check ## style, types, C warnings, shell scripts, licences, links of the docs
	@scripts/check.sh

format: setup-check ## format the Python sources as `make check` requires
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format .

bench: setup-bench ## the figures of the docs, measured here; ARGS="NAME" for one
	@$(BIN)/interlude bench $(ARGS)

docs: setup-check ## this documentation as a site (build/site/index.html)
	@scripts/site.sh $(ARGS)
	@echo "build/site/index.html"

run: setup ## the box itself, on this machine's sound card
	@exec $(BIN)/interlude run $(ARGS)

setup: ## only the set-up: packages, environment, llama.cpp, software sound card
	@scripts/packages.sh setup
	@$(PYTHON) scripts/environment.py

# `setup` with the packages that some target needs in addition: the stem is a role of scripts/tools.txt.
setup-%:
	@scripts/packages.sh setup $(subst -, ,$*)
	@$(PYTHON) scripts/environment.py $(subst -, ,$*)

# The three that build never see the private key; `sign` runs none of what they installed.
release: setup-release ## the package with all it needs, as one file, for machines like this one
	@$(BIN)/python scripts/release.py $(ARGS)

voices: setup-release ## the program of Piper's voices, as one file, for machines like this one
	@$(BIN)/python scripts/voices.py $(ARGS)

image: setup-image ## the card for a Pi 5 as one file; its box trusts the public keys in SIGNERS=; needs root
	@scripts/image.sh --signers "$(SIGNERS:~/%=$(HOME)/%)" $(ARGS)

sign: ## sign what the three above left, with the ssh key KEY=; FILES= (dist)
	@$(PYTHON) -I -S scripts/sign.py --key "$(KEY:~/%=$(HOME)/%)" $(or $(FILES),dist)

test-boxes: setup-boxes ## the quick half of test-image: a fleet in containers, slots, roles, power cuts; needs root
	@scripts/test_image.sh boxes $(ARGS)

test-image: setup-boxes-image ## boxes in containers, by Ansible; the card, built and started in QEMU; needs root
	@scripts/test_image.sh $(ARGS)

lock: ## resolve the dependencies again; UPGRADE=1 for the newest of each
	@scripts/lock.sh $(if $(UPGRADE),--upgrade)

clean: ## remove what was built here, except the environment
	@rm -rf rehearsal build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
	@if [ -f hw/simcard/Makefile ]; then $(MAKE) -s -C hw/simcard clean; fi

distclean: clean ## remove the environment, too; the built wheel stays in the cache
	@rm -rf .venv .make
