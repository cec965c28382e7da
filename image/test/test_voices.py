"""An owner installs a voice on a box: its files by `models fetch` from a hub and its program as a
signed bundle, or both in one file on a stick; with systemd and the units' own sandboxes. The
program is piper-tts as `make voices` bundles it for this machine. The voice is a small one that the
tests make; the release's catalogue has its checksums under the name of a real voice.
"""

from __future__ import annotations

import json
import platform
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from appliance.models.model_disk import sha256_of
from appliance.update.archive_parts import sign_archive
from appliance.voice.engine.pack import pack
from appliance.voice.protocol import PROTOCOL
from image.test import real
from image.test.boxes import NETWORK, Box
from image.test.fleet import ROOT, Fleet, scratch, started
from scripts import voices
from tests.models.hub_server import COMMIT, REPOSITORY, HubServer
from tests.voice import onnx_voice

pytestmark = pytest.mark.timeout(1800)
NAME = "ljspeech"
VOICES = "/opt/interlude/voices"


def tiny(folder: Path) -> dict[str, Any]:
    """Write the tests' voice, and return its row of the catalogue."""
    model = onnx_voice.write(folder / "en_US-ljspeech-medium.onnx")
    files = {"model": model, "config": model.with_name(model.name + ".json")}
    row = yaml.safe_load((ROOT / "appliance/models/catalogue.yaml").read_text())[NAME]
    for role, path in files.items():
        row["files"][role] |= {"size": path.stat().st_size, "sha256": sha256_of(path)}
    return {**row, "repository": REPOSITORY, "revision": COMMIT}


def paths(folder: Path) -> list[str]:
    """The paths of the voice's files in the repository."""
    return [file["path"] for file in tiny(folder)["files"].values()]


def bundle(folder: Path, key: Path, version: str, voice: Path | None = None, **said: Any) -> Path:
    """A signed bundle with the real program and, if given, the voice in the folder `voice`."""
    tree = folder / "program"
    if not tree.exists():
        voices.plant(tree, voices.requirements(voices.LOCK.read_text()), voices.here(folder))
    if voice is not None:
        shutil.copytree(voice, tree / "voices" / NAME)
    told = {"engine": "piper", "version": version, "protocol": PROTOCOL, "licence": voices.LICENCE,
            "voices": (NAME,) if voice else (), "machine": platform.machine(),
            "python": f"{sys.version_info.major}.{sys.version_info.minor}",
            "made_s": int(time.time()), **said}  # fmt: skip
    made = pack(tree, folder, level=1, **told)
    sign_archive(made, key)
    if voice is not None:
        shutil.rmtree(tree / "voices")
    return made


@pytest.fixture(scope="module")
def fleet() -> Iterator[tuple[Fleet, Path]]:
    """One box that runs the real release, and the folder with the tests' voice.

    The tests' row is put into the release's catalogue before the release is signed.
    """
    with scratch() as folder, started(folder, 1) as made:
        voice = folder / "voice"
        voice.mkdir()
        (release,) = real.releases(folder, made.key, ("9.0.0",), change=_catalogue(tiny(voice)))
        box = made.boxes[0]
        with real.sound_card(box.root):
            words = {"interlude_release_file": str(release), "interlude_settings": real.SETTINGS}
            played = made.play("site.yml", "--skip-tags", "packages", "-e", json.dumps(words))
            assert played.code == 0, played.said[-3000:]
            yield made, voice


def _catalogue(row: dict[str, Any]) -> Callable[[Path], None]:
    def change(tree: Path) -> None:
        path = tree / "lib/appliance/models/catalogue.yaml"
        rows = yaml.safe_load(path.read_text())
        path.write_text(yaml.safe_dump({**rows, NAME: row}, sort_keys=False))

    return change


def test_the_way_of_an_owner_from_the_boxs_own_voice_to_another(fleet: tuple[Fleet, Path]) -> None:
    """With the voice but no program the box keeps its own voice. With the program it speaks, in the
    unit's own sandbox, without a restart. A newer program replaces it; a bad one is refused."""
    made, voice = fleet
    box = made.boxes[0]
    assert "ok: hibari speaks" in _check(box)

    files = {path: (voice / Path(path).name).read_bytes() for path in paths(voice)}
    with HubServer(files, host=f"{NETWORK}.1") as hub:
        fetched = box.ssh(
            f"HF_ENDPOINT={hub.endpoint} interlude models fetch {NAME} --accept-licence", 180
        )
    assert "every byte verified" in fetched.stdout, fetched.stdout + fetched.stderr
    assert "cannot speak" in fetched.stdout  # the program is missing
    assert f"{NAME} cannot speak" in _check(box)
    assert _voice(box) == "hibari"

    file = bundle(made.folder, made.key, "9.0.0")
    played = made.play("site.yml", "--tags", "voices", "-e",
                       json.dumps({"interlude_voice_files": [str(file)]}))  # fmt: skip
    assert played.code == 0, played.said[-3000:]
    again = made.play("site.yml", "--tags", "voices", "-e",
                      json.dumps({"interlude_voice_files": [str(file)]}))  # fmt: skip
    assert again.changed() == {"box1": 0}, again.said[-2000:]
    assert f"ok: {NAME} speaks" in _check(box)
    _until(lambda: _voice(box) == NAME, box)

    newer = bundle(made.folder, made.key, "9.1.0")
    shutil.copy(newer, box.root / "opt/interlude/incoming/newer.voice")
    done = box.ssh("interlude voices install /opt/interlude/incoming/newer.voice", 300)
    assert done.stdout == "installed piper 9.1.0\n", done.stderr
    assert box.ssh(f"ls {VOICES}").stdout == "piper-9.1.0\n"
    _until(lambda: "piper-9.1.0" in box.ssh("ps -eo args").stdout, box)

    for bad, said in (
        (bundle(made.folder, made.stranger, "9.2.0"), "not signed with a key"),
        (bundle(made.folder, made.key, "9.2.0", machine="pdp11"), "made for pdp11"),
    ):
        shutil.copy(bad, box.root / "opt/interlude/incoming/bad.voice")
        done = box.ssh("interlude voices install /opt/interlude/incoming/bad.voice", 300)
        assert (done.returncode != 0, said in done.stderr) == (True, True), done.stderr
    assert box.ssh(f"ls {VOICES}").stdout == "piper-9.1.0\n"
    assert f"ok: {NAME} speaks" in _check(box)


def test_the_program_can_do_nothing_but_speak(fleet: tuple[Fleet, Path]) -> None:
    """The rights of the process under systemd, read from /proc."""
    box = fleet[0].boxes[0]
    _until(lambda: _voice(box) == NAME, box)
    pid, said = "", dict[str, str]()

    def found() -> bool:
        """False if the process, such as a probe, has ended between the two commands."""
        nonlocal pid, said
        pid = (box.ssh("pgrep -f 'program.py /var/lib/interlude-models'").stdout.split() or ["0"])[
            0
        ]
        status = box.ssh(f"cat /proc/{pid}/status").stdout
        said = dict(line.split(":\t", 1) for line in status.splitlines())
        return "CapInh" in said

    _until(found, box)
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert int(said[name], 16) == 0
    assert (said["NoNewPrivs"], said["Seccomp"]) == ("1", "2")
    limits = box.ssh(f"cat /proc/{pid}/limits").stdout
    assert "Max file size             0 " in limits
    assert "Max data size             unlimited" not in limits
    for user in ("interlude", "interlude-model"):
        touched = box.ssh(f"runuser -u {user} -- touch {VOICES}/piper-9.1.0/bin/voice")
        assert touched.returncode != 0


def test_its_end_costs_no_sentence(fleet: tuple[Fleet, Path]) -> None:
    box = fleet[0].boxes[0]
    _until(lambda: _voice(box) == NAME, box)
    box.ssh("pkill -KILL -f 'program.py /var/lib/interlude-models'")
    assert box.ssh("interlude say one two three").returncode == 0
    _until(lambda: box.ssh("pgrep -f 'program.py /var/lib/interlude-models'").stdout != "", box)
    assert f"ok: {NAME} speaks" in _check(box)
    assert box.ssh("systemctl show -P NRestarts interlude").stdout == "0\n"


STICK = """
set -eu
mkdir -p /run/interlude-stick/usb /usr/lib/interlude/try
mv /opt/interlude/incoming/both.voice /run/interlude-stick/usb
printf '#!/bin/sh\\necho vfat\\n' >/usr/lib/interlude/try/udevadm
printf '#!/bin/sh\\n' >/usr/lib/interlude/try/mount
chmod 755 /usr/lib/interlude/try/*
systemctl daemon-reload
"""
TRY = "/usr/lib/interlude/try"


def unit_of_a_stick() -> str:
    """The shipped unit without its device, and with stubs for udevadm and mount."""
    text = (ROOT / "system/usr/lib/systemd/system/interlude-stick@.service").read_text()
    lines = [line for line in text.replace("%I", "usb").splitlines()
             if not line.startswith(("BindsTo=", "After="))]  # fmt: skip
    at = lines.index("[Service]") + 1
    lines[at:at] = [f"Environment=INTERLUDE_{name}={TRY}/{program}" for name, program in (
        ("UDEVADM", "udevadm"), ("MOUNT", "mount"), ("UMOUNT", "mount"))]  # fmt: skip
    return "\n".join(lines) + "\n"


def test_a_stick_brings_voice_and_program_in_one_file(fleet: tuple[Fleet, Path]) -> None:
    """Without a request, as a seed writes it, nothing is installed; with it voice and program are
    installed, and the request is removed."""
    made, voice = fleet
    box = made.boxes[0]
    both = bundle(made.folder, made.key, "9.3.0", voice)
    shutil.copy(both, box.root / "opt/interlude/incoming/both.voice")
    box.ssh(f"rm -rf /var/lib/interlude-models/{NAME}")
    (box.root / "etc/systemd/system/interlude-try.service").write_text(unit_of_a_stick())
    prepared = box.ssh(STICK)
    assert prepared.returncode == 0, prepared.stderr
    before = box.ssh(f"ls {VOICES}").stdout
    box.ssh("systemctl start interlude-try", 300)
    assert box.ssh(f"ls {VOICES}").stdout == before

    box.ssh(f"echo {NAME} >/etc/interlude/voice-wanted")
    started_ = box.ssh("systemctl start interlude-try", 300)
    log = box.ssh("journalctl -u interlude-try -u interlude-voice -o cat | tail -20").stdout
    assert started_.returncode == 0, log
    assert f"installed piper 9.3.0 with {NAME}" in log
    assert box.ssh(f"ls {VOICES}").stdout == "piper-9.3.0\n"
    _until(lambda: box.ssh("ls /etc/interlude/voice-wanted").returncode != 0, box)
    assert f"ok: {NAME} speaks" in _check(box)
    place = f"{VOICES}/piper-9.3.0/voices/{NAME}"
    _until(lambda: place in box.ssh("ps -eo args").stdout, box)


def _check(box: Box) -> str:
    """The findings of `interlude check` on the voice, one a line."""
    found = json.loads(box.ssh("interlude check --json", 180).stdout)
    return "\n".join(
        f"{each['verdict']}: {each['sentence']}" for each in found if each["looked_at"] == "voice"
    )


def _voice(box: Box) -> str:
    """The voice that the box uses, from its log."""
    said = box.ssh("journalctl -u interlude -o cat | grep -o 'the voice is .*' | tail -1").stdout
    return said.removeprefix("the voice is ").strip()


def _until(true: Callable[[], bool], box: Box, within_s: float = 90) -> None:
    limit = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < limit, box.ssh("journalctl -u interlude | tail -30").stdout
        time.sleep(1.0)
