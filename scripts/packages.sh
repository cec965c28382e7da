#!/usr/bin/env bash
# Installs the Debian packages that are missing here, and prints which and why.
# `packages.sh ROLE...` checks the rows of tools.txt that have one of these roles (default: setup).
# It checks for the command, header or library itself, not for the package, so that it also passes on
# another Linux that has them all.
# `packages.sh --missing ROLE...` installs nothing: it prints the missing packages, one a line.
# It needs only bash, so that it runs on a bare machine.
set -uo pipefail

table=${BASH_SOURCE[0]%/*}/tools.txt
python=${PYTHON:-python3}
machine=$(uname -m)
os_release=${INTERLUDE_OS_RELEASE:-/etc/os-release}
sbin=$PATH:/usr/sbin:/sbin # an unprivileged user's PATH may lack these
packages=()
reasons=()

has_command() { PATH=$sbin command -v "$1"; }
has_header() { # cc knows the multiarch folders, Python the folder of its own headers
  case $1 in
    Python.h) "$python" -c 'import os, sysconfig; os.stat(os.path.join(sysconfig.get_path("include"), "Python.h"))' ;;
    *) echo "#include <$1>" | cc -E - ;;
  esac
}
has_library() { [[ $(PATH=$sbin ldconfig -p) == *"$1"* ]]; }
is_static() { has_command "$1" && ! ldd "$(has_command "$1")"; }
has_file() { # has_file PATH|PATH...: whether one of them exists
  local path paths
  IFS='|' read -ra paths <<<"$1"
  for path in "${paths[@]}"; do
    [ ! -e "$path" ] || return 0
  done
  return 1
}

is_there() { # is_there THING: an item of the table's first column
  case $1 in
    python3) has_command "$python" ;;
    python:*) "$python" -c "import ${1#*:}" ;;
    header:*) has_header "${1#*:}" ;;
    library:*) has_library "${1#*:}" ;;
    static:*) is_static "${1#*:}" ;;
    file:*) has_file "${1#*:}" ;;
    *) has_command "$1" ;;
  esac >/dev/null 2>&1
}

are_there() { # are_there THING,THING...
  local thing things
  IFS=, read -ra things <<<"$1"
  for thing in "${things[@]}"; do
    is_there "$thing" || return
  done
}

is_for() { # is_for ROLE,ROLE@MACHINE... REQUESTED...: whether the row has one of the requested roles
  local role requested roles
  IFS=, read -ra roles <<<"$1"
  shift
  for role in "${roles[@]}"; do
    if [[ $role == *@* && ${role#*@} != "$machine" ]]; then
      continue
    fi
    for requested in "$@"; do
      [ "${role%@*}" != "$requested" ] || return 0
    done
  done
  return 1
}

is_debian() { # Debian itself, or Raspberry Pi OS (64 bit)
  # shellcheck disable=SC1090  # a file of the system
  [ "$(. "$os_release" 2>/dev/null && echo "${ID-}")" = debian ]
}

choose() { # choose PACKAGE|PACKAGE...: prints the first that can be installed; a single one unchecked
  local name names
  IFS='|' read -ra names <<<"$1"
  for name in "${names[@]}"; do
    if [ ${#names[@]} -eq 1 ] || apt-get -qq -s install "$name" >/dev/null 2>&1; then
      echo "$name"
      return
    fi
  done
  # On Debian one of them exists: apt-get says what is wrong, such as missing package lists.
  is_debian && echo "${names[0]}"
}

installs=yes
if [ "${1-}" = --missing ]; then
  installs=no
  shift
fi
[ $# -gt 0 ] || set -- setup

while read -r what package who why; do
  if [[ $what == "" || $what == \#* ]] || ! is_for "$who" "$@" || are_there "$what"; then
    continue
  fi
  if [[ " ${packages[*]-} " != *" $package "* ]]; then
    packages+=("$package")
    reasons+=("$why")
  fi
done <"$table"

if [ $installs = no ]; then
  [ ${#packages[@]} -eq 0 ] || printf '%s\n' "${packages[@]%%|*}"
  exit
fi

wanted=("${packages[@]}")
packages=()
for i in "${!wanted[@]}"; do
  if package=$(choose "${wanted[i]}"); then
    packages[i]=$package
  else
    echo "This system has no package ${wanted[i]//|/ or }: ${reasons[i]}. Tests that need it are skipped." >&2
  fi
done

if [ ${#packages[@]} -gt 0 ]; then
  echo "Debian packages that this machine lacks:"
  for i in "${!packages[@]}"; do
    printf '  %-16s %s\n' "${packages[i]}" "${reasons[i]}"
  done
  if ! command -v apt-get >/dev/null; then
    echo "This is no Debian: please install the equivalents with this system's package manager, then run this again." >&2
    exit 69
  fi
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "Installing them needs root, and there is no sudo here. As root, run:" >&2
      echo "  apt-get install --no-install-recommends ${packages[*]}" >&2
      exit 77
    fi
    as_root=(sudo)
    echo "sudo may ask for your password, to install these and nothing else."
  fi
  # A new machine may be installing updates: wait for its lock instead of failing.
  apt=(${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0)
  "${apt[@]}" update || echo "Some package lists could not be refreshed; continuing with the present ones." >&2
  if ! "${apt[@]}" install -y --no-install-recommends "${packages[@]}" >/dev/null; then
    echo "apt-get could not install them; its message is above. Fix that, then run this again." >&2
    exit 69
  fi
  hash -r
fi

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "$("$python" --version) is too old: Interlude needs Python 3.11 or newer (Debian 12 has it)." >&2
  echo "If a newer one is installed, name it: make PYTHON=python3.12 …" >&2
  exit 69
fi
