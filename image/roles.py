"""Applies the Ansible roles of a running box to the root file system of the image.

Ansible's modules are Python. Emulated they would take minutes, so this machine's own Python runs
them inside the chroot: its files are mounted there at /run/host, and its dynamic loader is called
by path, so that the Pi's own libraries and Python stay unchanged. The programs that a module starts
(systemctl, useradd, the release's self-test) are the Pi's, emulated.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from appliance.update.archive_parts import sign_archive
from image import inside
from image.plan import ROOT, NotBuilt, Plan
from image.tools import quietly

_HOST = "/run/host"
_SHARED = "/run/interlude-ansible"  # Ansible's files for its modules; same path inside and outside


def apply(plan: Plan, root: Path, release: Path | None, voices: Sequence[Path] = ()) -> str:
    """Apply the roles and return Ansible's summary (`ok=30 changed=12 …`). Raises NotBuilt.

    `release`, `voices` (bundles of the voices' programs): archives without a signature. The box's
    own installer puts them in place, so they are signed by a throwaway key, which the box trusts
    until `trust`.
    """
    playbook = shutil.which("ansible-playbook")
    if playbook is None:
        raise NotBuilt(
            "ansible-playbook is missing.", "`make image` installs it; or pip install ansible-core"
        )
    shared = plan.work / "ansible"
    shared.mkdir(exist_ok=True)
    wrapper = plan.work / "step-in"
    wrapper.write_text(_python_wrapper(root))
    wrapper.chmod(0o755)
    inventory = {
        "boxes": {
            "hosts": {
                "image": {
                    "ansible_connection": "local",
                    "ansible_python_interpreter": str(wrapper),
                    "interlude_remote_tmp": _SHARED,
                }
            }
        }
    }
    key = _throwaway_key(plan)
    variables: dict[str, object] = {
        "interlude_image_build": True,
        "interlude_harden": True,
        "interlude_signers": [key.with_suffix(".pub").read_text().strip()],
    }
    if release is not None:
        variables["interlude_release_file"] = str(_signed_copy(release, key))
    if voices:
        variables["interlude_voice_files"] = [str(_signed_copy(voice, key)) for voice in voices]
    (plan.work / "inventory.json").write_text(json.dumps(inventory))
    (plan.work / "said.json").write_text(json.dumps(variables))
    log = plan.logs / "ansible.log"
    command = shlex.join(
        [playbook, "-i", f"{plan.work}/inventory.json", "-e", f"@{plan.work}/said.json", "site.yml"]
    )
    mounts = inside.entered(root, {**_host_mounts(root), shared: _SHARED})
    # Ansible itself runs outside the chroot and needs the shared folder at the same path.
    bind_shared = f"mkdir -p {_SHARED}\nmount --bind {shlex.quote(str(shared))} {_SHARED}\n"
    script = f"{mounts}{bind_shared}cd {shlex.quote(str(ROOT / 'ansible'))}\nexec {command}"
    quietly(
        "The roles cannot be applied", "Fix the task that failed, and run it again.", log,
        "unshare", "--mount", "--propagation", "private", "sh", "-c", script,
        environment={
            "ANSIBLE_CONFIG": str(ROOT / "ansible/ansible.cfg"),
            "ANSIBLE_FORCE_COLOR": "0",
            "SYSTEMD_OFFLINE": "1",
            "SOURCE_DATE_EPOCH": str(plan.time_s),
            "LC_ALL": "C.UTF-8",
        },
        progress=_progress,
    )  # fmt: skip
    shutil.rmtree(shared, ignore_errors=True)
    counted = re.search(r"^image\s+: (.*)$", log.read_text(), re.MULTILINE)
    return counted[1] if counted else ""


def trust(root: Path, signers: str) -> None:
    """Make the box in `root` trust the keys of `signers`, and no other; call it after `apply`.

    The signatures of the throwaway key are removed: what comes with a card has none, as the system
    in its slot has none. The card as a whole is signed, beside its file.
    """
    (root / "etc/interlude/allowed_signers").write_text(signers)
    for kept in root.glob("opt/interlude/*/*/*.json.sig"):
        kept.unlink()


def _throwaway_key(plan: Plan) -> Path:
    """The same in each run, so that a second one changes nothing."""
    folder = plan.work / "throwaway"
    folder.mkdir(mode=0o700, exist_ok=True)
    key = folder / "key"
    if key.exists():
        return key
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "throwaway", "-f", str(key)]
    subprocess.run(command, check=True)
    return key


def _signed_copy(archive: Path, key: Path) -> Path:
    copy = Path(shutil.copy(archive, key.parent / archive.name))
    sign_archive(copy, key)
    return copy


def _runs_here(root: Path) -> bool:
    """Whether its programs run on this processor: compares e_machine of their headers (elf(5))."""
    heads = [path.resolve().read_bytes()[18:20] for path in (Path(sys.executable), _python(root))]
    return heads[0] == heads[1]


def _python(root: Path) -> Path:
    """The root file system's Python by its versioned name: a symlink might be absolute."""
    return next((root / "usr/bin").glob("python3.[0-9]*[0-9]"))


def _host_mounts(root: Path) -> dict[Path, str]:
    """What this machine's Python needs in the chroot: /usr, and its prefix if that is elsewhere."""
    if _runs_here(root):
        return {}
    found = {Path("/usr"): f"{_HOST}/usr"}
    prefix = Path(os.path.realpath(sys.base_prefix))
    if not prefix.is_relative_to("/usr"):
        found[prefix] = f"{_HOST}{prefix}"
    return found


def _python_wrapper(root: Path) -> str:
    """The script that Ansible calls as its Python: it runs this machine's Python in the chroot."""
    quoted_root = shlex.quote(str(root))
    if _runs_here(root):
        return f'#!/bin/sh\nexec chroot {quoted_root} /usr/bin/python3 "$@"\n'
    loader = Path(os.path.realpath("/lib64/ld-linux-x86-64.so.2"))
    prefix = Path(os.path.realpath(sys.base_prefix))
    libraries = ":".join(
        f"{_HOST}{folder}"
        for folder in (loader.parent, "/usr/lib/x86_64-linux-gnu", prefix / "lib")
    )
    python = f"{prefix}/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    return (
        f"#!/bin/sh\nexec chroot {quoted_root} {_HOST}{loader} --library-path {libraries}"
        f' {_HOST}{python} "$@"\n'
    )


def _progress(line: str) -> str | None:
    found = re.match(r"TASK \[(.*)\]", line)
    return found[1][:60] if found else None
