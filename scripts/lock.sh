#!/usr/bin/env bash
# Writes the lock files, four from pyproject.toml and that of the programs which `bench peers`
# compares: exact versions with hashes for Python 3.11 to 3.13 on x86-64 and arm64.
# llama-cpp-python has a file of its own, because it is published as source only and
# scripts/environment.py builds it. Options are passed to the resolver (--upgrade).
set -euo pipefail
cd "$(dirname "$0")/.."

if [ ! -x .make/uv/bin/uv ]; then
  "${PYTHON:-python3}" -m venv .make/uv
  .make/uv/bin/python -m pip install --quiet uv
fi
compile() {
  .make/uv/bin/uv pip compile --quiet --no-header --no-annotate --generate-hashes \
    --universal --python-version 3.11 "$@"
}
# Removes markers that are always true, because they name both of our architectures.
simplify() {
  local a="platform_machine == 'aarch64' and sys_platform == 'linux'"
  local x="platform_machine == 'x86_64' and sys_platform == 'linux'"
  local both="\(platform_machine == 'aarch64' or platform_machine == 'x86_64'\)" # as newer versions of uv write it
  local linux="sys_platform == 'linux'"
  sed -E -i "s/ ; \($a\) or \($x\)//; s/ ; \((.*) and $a\) or \(\1 and $x\)/ ; \1/
    s/ ; $both and $linux//; s/ ; $both and (.*) and $linux/ ; \1/
    s/ and \(\($a\) or \($x\)\)//" "$1"
}

compile pyproject.toml --no-emit-package llama-cpp-python "$@" -o requirements.lock
simplify requirements.lock
compile pyproject.toml --no-emit-package llama-cpp-python --extra room \
  -c requirements.lock "$@" -o requirements-room.lock
simplify requirements-room.lock
compile pyproject.toml --no-emit-package llama-cpp-python --extra room --extra docs --extra dev \
  -c requirements-room.lock "$@" -o requirements-dev.lock
simplify requirements-dev.lock
grep -oE 'llama-cpp-python==[0-9.]+' pyproject.toml |
  compile - --no-deps "$@" -o requirements-llama.lock
simplify requirements-llama.lock
# Without docopt, which is published as source only and used only by num2words' own command.
compile lab/bench/peers-requirements.in --no-emit-package docopt "$@" \
  -o lab/bench/peers-requirements.lock
simplify lab/bench/peers-requirements.lock
