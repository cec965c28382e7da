#!/usr/bin/env bash
# `make docs`: the site, in build/site; options go to mkdocs. Fails for a link or an anchor that leads
# nowhere, and prints what is wrong. mkdocs' own --quiet would switch off what --strict counts.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
if ! said=$(NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict "$@" 2>&1); then
  grep -v '^INFO' <<<"$said" >&2
  exit 1
fi
