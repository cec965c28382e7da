"""Bundles of voice programs: signed ones that fit are installed; others change nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.errors import InstallDeferred, ReleaseRefused, StorageError
from appliance.update.install_lock import locked
from appliance.update.release.disk_changes import Disk
from appliance.voice.engine import store
from tests.update.release.workshop import MADE_S
from tests.voice.engine.workshop import Bench

pytestmark = pytest.mark.process


def test_a_signed_bundle_is_installed_and_replaces_the_former_one(bench: Bench) -> None:
    manifest, changed = bench.installer().install(bench.make("0.1.0"))
    assert (manifest.version, changed, bench.here()) == ("0.1.0", True, ["0.1.0"])
    bench.installer().install(bench.make("0.2.0"))
    assert bench.here() == ["0.2.0"]
    found = store.engine(bench.root, "piper")
    assert found is not None
    assert os.access(found.command(Path("x"))[0], os.X_OK)
    assert sorted(path.name for path in bench.root.iterdir()) == [".lock", "piper-0.2.0"]


def test_installing_the_same_bundle_again_changes_nothing(bench: Bench) -> None:
    file = bench.make()
    bench.installer().install(file)
    _, changed = bench.installer(lambda _: "tried again").install(file)
    assert not changed


def test_the_same_version_with_other_files_replaces_it(bench: Bench) -> None:
    bench.installer().install(bench.make(name="first"))
    bench.installer().install(bench.make(name="second"))
    (found,) = store.installed(bench.root)
    assert (found.folder / "version").read_text() == "0.1.0 second"


def spoil(file: Path, at: int) -> Path:
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(data)
    return file


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (lambda b: b.make("0.2.0", key=b.workshop.new_key("other")), "not signed with a key"),
        (lambda b: spoil(b.make("0.2.0"), 600), "not signed with a key"),
        (lambda b: spoil(b.make("0.2.0"), 2700), "damaged, or was changed"),
        (lambda b: b.make("0.2.0", machine="pdp11"), "made for pdp11; this box is"),
        (lambda b: b.make("0.2.0", python="2.7"), "made for Python 2.7; this box has"),
        (lambda b: b.make("0.2.0", protocol=9), "speaks protocol 9"),
        (lambda b: b.make("0.0.9"), "older than 0.1.0"),
        (lambda b: b.make("0.2.0", made_s=MADE_S + 999_999), "clock"),
        (lambda b: b.workshop.make("0.2.0"), "is no voice program"),
        (lambda b: b.workshop.signers, "is no voice program"),
    ],
)
def test_a_bad_bundle_is_refused_with_a_sentence_and_changes_nothing(
    bench: Bench, bad: Callable[[Bench], Path], message: str
) -> None:
    bench.installer().install(bench.make("0.1.0"))
    with pytest.raises(ReleaseRefused, match=message):
        bench.installer().install(bad(bench))
    assert bench.here() == ["0.1.0"]
    assert bench.left_over() == []


def test_a_program_whose_self_check_fails_is_not_installed(bench: Bench) -> None:
    bench.installer().install(bench.make("0.1.0"))
    with pytest.raises(ReleaseRefused, match="does not run here: no such library"):
        bench.installer(lambda _: "no such library").install(bench.make("0.2.0"))
    assert bench.here() == ["0.1.0"]
    assert bench.left_over() == []


def test_a_second_concurrent_installation_is_deferred(bench: Bench) -> None:
    bench.installer().install(bench.make())
    with locked(bench.root / ".lock"), pytest.raises(InstallDeferred):
        bench.installer().install(bench.make("0.2.0"))


def test_a_full_disk_is_reported_before_anything_is_written(bench: Bench) -> None:
    class Full(Disk):
        def free_bytes(self, folder: Path) -> int:
            return 1 << 20

    with pytest.raises(StorageError, match="are needed for it, and 1 are free"):
        bench.installer(disk=Full()).install(bench.make())
    assert bench.here() == []


def test_a_power_cut_at_any_step_leaves_a_complete_program(bench: Bench) -> None:
    """The process is killed after each disk operation in turn; then it installs again."""
    first, second = bench.make(name="first"), bench.make(name="second")
    bench.installer().install(first)
    cuts = 0
    while _killed(bench, second, cuts):
        installed = bench.here()
        left = (bench.root / ".piper-0.1.0.aside").exists()
        assert installed == ["0.1.0"] or left, cuts  # set aside between two renames
        bench.installer().install(first)  # the next installation repairs it
        assert bench.here() == ["0.1.0"]
        assert bench.left_over() == []
        cuts += 1
    assert cuts > 8
    (found,) = store.installed(bench.root)
    assert (found.folder / "version").read_text() == "0.1.0 second"


def _killed(bench: Bench, file: Path, after: int) -> bool:
    """Whether the installation was killed after so many disk operations."""

    class Dying(Disk):
        done = 0

        def _done(self) -> None:
            type(self).done += 1
            if type(self).done > after:
                os.kill(os.getpid(), signal.SIGKILL)

    pid = os.fork()
    if pid == 0:
        try:
            bench.installer(disk=Dying()).install(file)
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status)
