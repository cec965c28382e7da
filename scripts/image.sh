#!/usr/bin/env bash
# `make image SIGNERS=…`: builds the card's image as one file. Options are passed to image/build.py.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$(id -u)" -ne 0 ]; then
  echo "A root file system is made by root: sudo make image SIGNERS=…" >&2
  exit 77
fi
. scripts/ansible.sh
exec .venv/bin/python -m image.build "$@"
