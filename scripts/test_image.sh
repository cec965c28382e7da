#!/usr/bin/env bash
# `make test-image`: the playbooks' style; a fleet of boxes in containers; the card, built and started
# in QEMU. Options go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(id -u)" -ne 0 ]; then
  echo "Boxes in containers and root file systems need root: sudo make test-image" >&2
  exit 77
fi
. scripts/ansible.sh
echo "── the playbooks' style (ansible-lint)"
(cd ansible && ansible-lint --offline --nocolor -q)
echo "── a fleet of three boxes, and the card in QEMU"
.venv/bin/python -m pytest image/test -s "$@"
