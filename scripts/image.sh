#!/usr/bin/env bash
# `make image KEY=…`: the card as one file. Options go to image/build.py.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$(id -u)" -ne 0 ]; then
  echo "A root file system is made by root: sudo make image KEY=…" >&2
  exit 77
fi
. scripts/ansible.sh
exec .venv/bin/python -m image.build "$@"
