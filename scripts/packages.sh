#!/usr/bin/env bash
# Installs the Debian packages that set-up needs and this machine lacks; says which and why.
# Looks for the thing itself, not for the package: another Linux that has it all is as welcome.
# `packages.sh check` also wants what `make check` needs, `packages.sh boxes` what `make test-boxes`
# needs, `packages.sh image` what `make image` and `make test-image` need.
set -uo pipefail

python=${PYTHON:-python3}
packages=()
reasons=()

need() { # need PACKAGE WHY COMMAND...: PACKAGE is missing unless COMMAND succeeds
  local package=$1 why=$2
  shift 2
  "$@" >/dev/null 2>&1 && return
  packages+=("$package")
  reasons+=("$why")
}
has_library() { # the linker's list of libraries; ldconfig is not on every owner's PATH
  PATH=$PATH:/usr/sbin:/sbin ldconfig -p | grep -qF "$1"
}
has_header() { # cc knows the multiarch folders
  echo "#include <$1>" | cc -E -
}
is_static() { command -v "$1" && ! ldd "$(command -v "$1")"; }
has_command() { PATH=$PATH:/usr/sbin:/sbin command -v "$1"; }
python_has() { "$python" -c "$1"; }

need python3 "the language" command -v "$python"
need python3-venv "an environment of its own for Python" python_has "import ensurepip, venv"
need python3-dev "headers to build Python's binding to the sound card" python_has \
  'import os, sysconfig; os.stat(os.path.join(sysconfig.get_path("include"), "Python.h"))'
need build-essential "compilers, for the model's runtime and the software sound card" \
  eval "command -v cc && command -v c++ && command -v make"
need cmake "builds the model's runtime, llama.cpp" command -v cmake
need ninja-build "builds it on all cores" command -v ninja
need pkg-config "finds the sound library's headers" command -v pkg-config
need libasound2-dev "headers of ALSA, the sound system" has_header alsa/asoundlib.h
need libspeexdsp1 "the echo canceller" has_library libspeexdsp.so.1
need espeak-ng "the voice, and the scripted owner's" command -v espeak-ng
need mosquitto "the broker that the tests of the link start for themselves" \
  eval "command -v mosquitto || test -x /usr/sbin/mosquitto"
need openssl "certificates for the same tests" command -v openssl
need device-tree-compiler "compiles the overlay of the panel's pins, in a test" command -v dtc
need mtools "reads the partitions of a card in the tests" command -v mtype
need dosfstools "makes them" eval "command -v mkfs.vfat || test -x /usr/sbin/mkfs.vfat"
need fdisk "lays a card out in the tests" eval "command -v sfdisk || test -x /usr/sbin/sfdisk"
need e2fsprogs "makes and grows its data partition" eval "command -v mke2fs || test -x /usr/sbin/mke2fs"
if [ "${1-}" = check ]; then
  need shellcheck "reads the shell scripts" command -v shellcheck
fi

if [ "${1-}" = boxes ] || [ "${1-}" = image ]; then
  need mmdebstrap "makes root file systems" command -v mmdebstrap
  need systemd-container "boots them as boxes" command -v systemd-nspawn
  need openssh-client "the way into a box, and the signatures of releases" command -v ssh-keygen
  need iproute2 "a network for the boxes" command -v ip
  need erofs-utils "the card's system is read-only" command -v mkfs.erofs
  need kmod "the kernel's modules" has_command depmod
  need cpio "packs the initramfs" command -v cpio
  need xz-utils "unpacks Debian's packages" command -v xz
  case $(uname -m) in # power cuts are tried in a machine of this one's own kind
    x86_64) need qemu-system-x86 "the machine whose power is cut" command -v qemu-system-x86_64 ;;
    *) need qemu-system-arm "the machine whose power is cut" command -v qemu-system-aarch64 ;;
  esac
  need busybox-static "its first program" is_static busybox
fi
if [ "${1-}" = image ]; then
  need qemu-user-static "runs the Pi's programs" command -v qemu-aarch64-static
  need qemu-system-arm "the machine that the card is started in" command -v qemu-system-aarch64
  need g++-aarch64-linux-gnu "a compiler for the Pi" command -v aarch64-linux-gnu-g++
  need zstd "packs the card" command -v zstd
fi

if [ ${#packages[@]} -gt 0 ]; then
  echo "Debian packages that this machine lacks:"
  for i in "${!packages[@]}"; do
    printf '  %-16s %s\n' "${packages[i]}" "${reasons[i]}"
  done
  if ! command -v apt-get >/dev/null; then
    echo "This is no Debian: please install the like of them with this system's own tool, then run this again." >&2
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
  # A fresh machine may be busy with its own updates: wait for it rather than fail.
  apt=(${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0)
  "${apt[@]}" update || echo "Some package lists could not be refreshed; going on with what there is." >&2
  if ! "${apt[@]}" install -y --no-install-recommends "${packages[@]}" >/dev/null; then
    echo "apt-get could not install them; its message is above. Mend that, then run this again." >&2
    exit 69
  fi
  hash -r
fi

if ! python_has 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "$("$python" --version) is too old: Interlude needs Python 3.11 or newer (Debian 12 has it)." >&2
  echo "If a newer one is installed, name it: make PYTHON=python3.12 …" >&2
  exit 69
fi
