#!/usr/bin/env bash
# `make check`: runs every check, also after one has failed, and fails if any did.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
bin=.venv/bin
failed=()

check() { # check NAME COMMAND...
  local name=$1 start=$SECONDS
  shift
  if "$@"; then
    printf '%-22s ok (%d s)\n' "$name" $((SECONDS - start))
  else
    printf '%-22s FAILED\n' "$name"
    failed+=("$name")
  fi
}
scripts_of_shell() { git ls-files '*.sh' .ci/run 2>/dev/null || ls scripts/*.sh .ci/run; }
shell_scripts() { scripts_of_shell | xargs -d '\n' shellcheck; }

check "lint (ruff)" $bin/ruff check --quiet .
check "layout (ruff format)" $bin/ruff format --quiet --check .
check "types (mypy)" $bin/mypy --no-error-summary
if [ -f hw/simcard/Makefile ]; then
  check "C warnings (simcard)" make -s -C hw/simcard check
fi
check "shell (shellcheck)" shell_scripts
check "workflows (zizmor)" $bin/zizmor --offline --no-progress --quiet --persona=pedantic .github/workflows
check "site (mkdocs)" scripts/site.sh
check "licences" $bin/python scripts/licences.py

if [ ${#failed[@]} -gt 0 ]; then
  echo "failed: $(IFS=,; echo "${failed[*]}")" >&2
  exit 1
fi
