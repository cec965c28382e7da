#!/usr/bin/env bash
# `make docs`: builds the site in build/site. Options are passed to mkdocs. Prints broken links and
# anchors, and fails if there are any. mkdocs' --quiet is not used: it also hides the warnings that
# --strict counts.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
if ! said=$(NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict "$@" 2>&1); then
  grep -v '^INFO' <<<"$said" >&2
  exit 1
fi
