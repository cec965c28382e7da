#!/usr/bin/env bash
# `make test-image`: the playbooks' style, then a fleet of boxes in containers. Options go to pytest.
# Ansible lives in an environment of its own: it is no part of the box.
set -euo pipefail
cd "$(dirname "$0")/.."
ansible=.make/ansible

if [ "$(id -u)" -ne 0 ]; then
  echo "Boxes in containers need root: sudo make test-image" >&2
  exit 77
fi
if [ ! -e $ansible.done ]; then
  echo "── Ansible, in an environment of its own"
  rm -rf $ansible
  "${PYTHON:-python3}" -m venv $ansible
  $ansible/bin/pip install --quiet --disable-pip-version-check 'ansible-core~=2.19.0' 'ansible-lint~=26.10'
  touch $ansible.done
fi
export PATH=$PWD/$ansible/bin:$PATH LC_ALL=C.UTF-8
echo "── the playbooks' style (ansible-lint)"
(cd ansible && ansible-lint --offline --nocolor -q)
echo "── a fleet of three boxes"
.venv/bin/python -m pytest image/test -s "$@"
