#!/usr/bin/env bash
# `make test-image`: lints the playbooks and tests a fleet of boxes in containers, a power cut at
# every write, the Ansible roles, and the card's image, which it boots in QEMU.
# `test_image.sh boxes` (`make test-boxes`): all of this except the card and the tests that emulate
# the Pi's programs. Other options are passed to pytest.
# INTERLUDE_IMAGE: path of the image to boot. By default the image of `make image`, if it is newer
# than all its sources; else one is built.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

if [ "$(id -u)" -ne 0 ]; then
  echo "Boxes in containers and root file systems need root: sudo make test-image" >&2
  exit 77
fi
pytest_args=(image/test)
not_run=()
if [ "${1-}" = boxes ]; then
  shift
  for name in boot journey systems air ble; do # in QEMU
    pytest_args+=("--ignore=image/test/test_$name.py")
  done
  pytest_args+=(-k "not emulated")
  not_run+=("the card, Wi-Fi and Bluetooth in QEMU, and the roles in the Pi's root file system: make test-image")
fi

# Checks what a systemd container needs of this machine; prints the first error.
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

# Prints the path of `make image`'s image if it is newer than all its sources.
card_there() {
  local image newer
  image=build/image/interlude-$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' appliance/__init__.py)-rpi5.img
  [ -f "$image" ] || return
  newer=$(find appliance ansible system image requirements*.lock pyproject.toml -type f \
    -newer "$image" -not -path 'image/test/*' -not -name '*.pyc' -not -name '*.md' -print -quit)
  [ -n "$newer" ] || echo "$PWD/$image"
}

which_card() {
  local found=${INTERLUDE_IMAGE-}
  if [ -z "$found" ] && found=$(card_there) && [ -n "$found" ]; then
    export INTERLUDE_IMAGE=$found
  fi
  if [ -n "$found" ]; then
    echo "   the card     is there: $found"
  else
    echo "   the card     is built first: 10 minutes, or an hour where neither Debian nor llama.cpp"
    echo "                for the Pi has been fetched yet (build/test-image; signed with a test key)"
  fi
}

echo "── What is tested, and how long it takes on two cores"
echo "   10 minutes   a fleet of three boxes in containers, by Ansible"
echo "    8 minutes   recovery of the unit: each cause of a restart, and failures of its parts, in a conversation"
echo "   10 minutes   attacks as each user of the box, the rights of each unit, a box that fails to stay up, a busy box"
echo "    4 minutes   a voice: fetched, its program installed, under its sandbox; killed"
echo "    3 minutes   names that end in .local: the link finds its broker, Home Assistant finds the box"
echo "    1 minute    a model server: llama-server; the first run also builds it, in 10 minutes"
echo "    5 minutes   a power cut at every write; the roles, run twice; slots, partitions"
if [ ${#not_run[@]} -eq 0 ]; then
  echo "    4 minutes   a wrong Wi-Fi password: NetworkManager, a simulated radio, a phone at the set-up page"
  echo "   10 minutes   set-up by Bluetooth: BlueZ, virtual controllers, Home Assistant's client"
  echo "   20 minutes   the card booted in QEMU, inspected from inside, and spoken to"
  echo "   15 minutes   an owner's first hour with it: seed, Home Assistant, USB stick, button, voice, restart"
  echo "   25 minutes   its system slots: a good, a failing and a corrupted system, booted one after the other"
  which_card
  echo "   One part alone: make test-image ARGS=\"-k test_boot\" (or test_systems, test_fleet, test_cuts)"
fi
. scripts/ansible.sh || exit
code=0
echo "── the playbooks' style (ansible-lint)"
(cd ansible && ansible-lint --offline --nocolor -q) || code=$?
if lacks=$(lacks_for_boxes) && [ -n "$lacks" ]; then
  for name in test_fleet test_fleet_systems test_real test_lives test_stays_up test_twin test_users test_names test_voices; do
    pytest_args+=("--ignore=image/test/$name.py")
  done
  not_run+=("the fleet of three boxes: this machine has no containers ($lacks)")
fi
echo "── all tests${not_run[0]+ except those that the last lines name}"
.venv/bin/python -m pytest -s --durations=10 "${pytest_args[@]}" "$@" || code=$?
for reason in "${not_run[@]+"${not_run[@]}"}"; do
  echo "NOT RUN: $reason" | tee -a "${INTERLUDE_NOT_RUN:-/dev/null}"
done
exit $code
