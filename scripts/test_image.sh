#!/usr/bin/env bash
# `make test-image`: the playbooks' style; a fleet of boxes in containers; the power cut at every
# write; the roles; the card, built and started in QEMU. `test_image.sh boxes` (`make test-boxes`):
# all but the card and what needs the Pi's programs emulated. Other options go to pytest.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

if [ "$(id -u)" -ne 0 ]; then
  echo "Boxes in containers and root file systems need root: sudo make test-image" >&2
  exit 77
fi
what=(image/test)
not_run=()
if [ "${1-}" = boxes ]; then
  shift
  what+=(--ignore=image/test/test_boot.py -k "not emulated")
  not_run+=("the card in QEMU, and the roles in the Pi's root file system: make test-image")
fi

# What a container of systemd's asks of this machine; the first thing that it lacks.
lacks_for_boxes() {
  local name=interlude-try$$ folder
  folder=$(mktemp -d) || return
  unshare -m sh -ec "
    mount -t tmpfs tmpfs $folder && mkdir $folder/lower $folder/upper $folder/work $folder/all
    mount -t overlay -o lowerdir=$folder/lower,upperdir=$folder/upper,workdir=$folder/work all $folder/all
    umount -l /sys/fs/cgroup 2>/dev/null || :
    mount -t cgroup2 cgroup2 /sys/fs/cgroup" 2>&1 | head -1
  ip netns add "$name" 2>&1 | head -1
  ip link add "itry$$" type bridge 2>&1 | head -1
  ip link del "itry$$" 2>/dev/null
  ip netns del "$name" 2>/dev/null
  rmdir "$folder" 2>/dev/null
}

. scripts/ansible.sh || exit
code=0
echo "── the playbooks' style (ansible-lint)"
(cd ansible && ansible-lint --offline --nocolor -q) || code=$?
if lacks=$(lacks_for_boxes) && [ -n "$lacks" ]; then
  what+=(--ignore=image/test/test_fleet.py)
  not_run+=("the fleet of three boxes: this machine has no containers ($lacks)")
fi
echo "── boxes, slots, roles, power cuts${not_run[0]+ (not all of it: see the last lines)}"
.venv/bin/python -m pytest -s --durations=10 "${what[@]}" "$@" || code=$?
for each in "${not_run[@]+"${not_run[@]}"}"; do
  echo "NOT RUN: $each" | tee -a "${INTERLUDE_NOT_RUN:-/dev/null}"
done
exit $code
