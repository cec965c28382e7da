"""A system in the other slot: written, started once, kept after a good trial, abandoned after a bad
one."""

from __future__ import annotations

import dataclasses

import pytest

from appliance.errors import HealthCheckFailed, InstallDeferred, ReleaseRefused, StorageError
from appliance.update.release.installer import InstallOptions, ReleaseInstaller
from appliance.update.system.fat32 import FatFileSystem
from appliance.update.system.slot import autoboot
from image.firmware import TRYBOOT, NoStart
from tests.update.release.workshop import PaperBox
from tests.update.system.workshop import CMDLINE, Bench, copy_sparse, fat

pytestmark = pytest.mark.process


def tried(at: Bench, version: str, kind: str = "good") -> None:
    """Install the system and start it once for its trial."""
    at.machine.kinds[version] = kind
    assert at.updater().install(at.archive(version))
    assert at.machine.asked == [TRYBOOT]
    at.machine.power(TRYBOOT)


def autoboot_of(at: Bench) -> bytes | None:
    with at.card.part("bootconfig") as part:
        return FatFileSystem(part).read("autoboot.txt")


# ── healthy ──────────────────────────────────────────────────────────────────────────────────
def test_a_system_that_passes_its_trial_is_started_from_then_on(at: Bench) -> None:
    tried(at, "0.2.0")
    assert (at.machine.said, at.machine.running) == ("0.2.0", "b")
    assert "is kept" in at.updater().settle_trial()
    assert at.version_that_starts() == "0.2.0"
    assert autoboot_of(at) == autoboot("b").encode()
    assert at.updater().settle_trial() == ""


def test_updates_alternate_between_the_slots(at: Bench) -> None:
    for version, slot in (("0.2.0", "b"), ("0.3.0", "a"), ("0.4.0", "b")):
        tried(at, version)
        at.updater().settle_trial()
        at.version_that_starts()
        assert (at.machine.said, at.machine.running) == (version, slot)


def test_without_a_commit_the_old_system_starts_again(at: Bench) -> None:
    tried(at, "0.2.0")
    assert at.version_that_starts() == "0.1.0"
    assert at.updater().settle_trial() == "The system 0.2.0 did not come up."
    assert at.slot_state.trial() is None
    assert at.updater().settle_trial() == ""


def test_a_kernel_without_tryboot_is_named_as_the_reason(at: Bench) -> None:
    at.machine.loses_restart_words = True
    tried(at, "0.2.0")
    assert at.machine.said == "0.1.0"
    assert "cannot ask the Pi's firmware" in at.updater().settle_trial()


def test_a_started_kernel_gets_the_command_line_of_its_slot(at: Bench) -> None:
    tried(at, "0.2.0")
    assert at.machine.started is not None
    assert at.machine.started.partition == 3
    assert at.machine.started.cmdline == CMDLINE.strip().replace("_a ", "_b ").replace("=a ", "=b ")
    assert at.machine.started.kernel.startswith(b"kernel 0.2.0\n")


def test_begin_trial_returns_to_the_previous_system(at: Bench) -> None:
    at.updater().settle_trial()  # records the system that came with the card
    tried(at, "0.2.0")
    at.updater().settle_trial()
    at.version_that_starts()
    assert at.updater().begin_trial(0.0) == "0.1.0"
    at.machine.power(at.machine.asked[0])
    at.updater().settle_trial()
    assert at.version_that_starts() == "0.1.0"


def test_a_complete_or_running_system_is_not_written_again(at: Bench) -> None:
    made = at.archive("0.2.0")
    tried_first = at.updater().install(made, InstallOptions(start=False))
    writes = len(at.card.notes)
    assert tried_first
    assert at.updater().install(made, InstallOptions(start=False))
    assert len(at.card.notes) == writes
    at.updater().begin_trial(0.0)
    at.machine.power(TRYBOOT)
    at.updater().settle_trial()
    at.machine.power()
    assert not at.updater().install(made)


def test_both_slots_use_the_same_release_on_the_data_partition(at: Bench) -> None:
    tried(at, "0.2.0")
    at.updater().settle_trial()
    assert at.store.kept() == "1.0.0"


# ── unhealthy ────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("crashes", "ended by itself"),
        ("hangs", "not well within"),
        ("gives up speaker", "speaker failed again and again"),
    ],
)
def test_an_unhealthy_system_is_abandoned_and_reported(at: Bench, kind: str, why: str) -> None:
    tried(at, "0.2.0", kind)
    with pytest.raises(HealthCheckFailed, match=why):
        at.updater().settle_trial()
    assert at.machine.asked == [""]
    assert at.slot_state.trial() is not None  # otherwise it would count as kept while it still runs
    assert at.version_that_starts() == "0.1.0"
    assert why in at.updater().settle_trial()
    assert at.slot_state.trial() is None
    assert at.updater().settle_trial() == ""
    last = at.slot_state.last()
    assert last is not None
    assert why in last.problem


def test_a_system_that_reports_another_version_is_abandoned(at: Bench) -> None:
    tried(at, "0.2.0")
    at.machine.said = "0.1.9"
    with pytest.raises(HealthCheckFailed, match=r"says it is 0\.1\.9"):
        at.updater().settle_trial()


def test_a_system_that_does_not_find_the_release_is_not_kept(at: Bench) -> None:
    tried(at, "0.2.0")
    (at.store.root / "current").unlink()
    with pytest.raises(HealthCheckFailed, match="does not find"):
        at.updater().settle_trial()
    assert at.version_that_starts() == "0.1.0"


@pytest.mark.parametrize("missing", ["kernel_2712.img", "initramfs_2712", "config.txt"])
def test_a_slot_without_its_boot_files_never_starts_and_the_old_system_does(
    at: Bench, missing: str
) -> None:
    at.updater().install(at.archive("0.2.0"))
    files = {"kernel_2712.img": b"k", "initramfs_2712": b"i",
             "config.txt": b"[all]\nkernel=kernel_2712.img\nauto_initramfs=1\n",
             "cmdline.txt": CMDLINE.encode()}  # fmt: skip
    del files[missing]
    copy_sparse(fat(at.folder / "lame.fat", files), at.card.place("boot_b"))
    with pytest.raises(NoStart):
        at.machine.power(TRYBOOT)
    assert at.version_that_starts() == "0.1.0"
    assert "did not come up" in at.updater().settle_trial()


def test_a_slot_that_is_damaged_after_the_installation_is_abandoned(at: Bench) -> None:
    at.updater().install(at.archive("0.2.0"))
    at.card.poke("system_b", 0, bytes(4096))
    at.machine.power(TRYBOOT)
    with pytest.raises(HealthCheckFailed):
        at.updater().settle_trial()
    assert at.version_that_starts() == "0.1.0"


def test_a_trial_whose_commit_the_card_does_not_keep_is_abandoned(at: Bench) -> None:
    tried(at, "0.2.0")
    at.card.lossy = "bootconfig"
    with pytest.raises(StorageError, match="did not keep"):
        at.updater().settle_trial()
    assert at.machine.asked == [""]


def test_an_older_system_is_refused_without_the_downgrade_option(at: Bench) -> None:
    archive = at.archive("0.0.9")
    with pytest.raises(ReleaseRefused, match="interlude system rollback"):
        at.updater().install(archive)
    assert at.updater().install(archive, InstallOptions(downgrade=True, start=False))


def test_a_system_for_another_machine_is_refused(at: Bench) -> None:
    with pytest.raises(ReleaseRefused, match="made for pdp11"):
        at.updater().install(at.archive("0.2.0", machine="pdp11"))


def test_with_a_clock_in_1970_every_system_is_refused(at: Bench) -> None:
    archive = at.archive("0.2.0")
    at.machine.clock = 0.0
    with pytest.raises(ReleaseRefused, match="clock"):
        at.updater().install(archive)


def test_nothing_is_written_while_a_system_is_on_trial(at: Bench) -> None:
    tried(at, "0.2.0")
    writes = len(at.card.notes)
    with pytest.raises(InstallDeferred, match="on trial"):
        at.updater().install(at.archive("0.3.0"))
    assert len(at.card.notes) == writes


def test_a_trial_waits_for_the_end_of_a_conversation(at: Bench) -> None:
    at.machine.quiet_at_s = at.machine.time_s + 1000.0
    with pytest.raises(InstallDeferred, match="A conversation is under way"):
        at.updater().install(at.archive("0.2.0"), InstallOptions(wait_s=10.0))
    assert at.machine.asked == []
    assert at.slot_state.trial() is None
    assert at.slot_state.content("b") is not None
    at.updater().begin_trial(2000.0)
    assert at.machine.time_s > at.machine.quiet_at_s


def test_a_machine_without_slots_is_reported(at: Bench) -> None:
    at.machine.running = None
    with pytest.raises(StorageError, match="no system slots"):
        at.updater().install(at.archive("0.2.0"))


def test_a_second_concurrent_installation_is_deferred(at: Bench) -> None:
    archive = at.archive("0.2.0")
    with at.slot_state.locked(), pytest.raises(InstallDeferred):
        at.updater().install(archive)


def test_nothing_is_written_or_started_while_a_release_is_installed(at: Bench) -> None:
    """The release may be on trial, and a restart of the machine would end that trial without a
    result."""
    at.updater().install(at.archive("0.2.0"), InstallOptions(start=False))
    archive, writes = at.archive("0.3.0"), len(at.card.notes)
    with at.store.locked():
        with pytest.raises(InstallDeferred, match="under way"):
            at.updater().install(archive)
        with pytest.raises(InstallDeferred, match="under way"):
            at.updater().begin_trial(0.0)
    assert (len(at.card.notes), at.machine.asked, at.slot_state.trial()) == (writes, [], None)
    assert at.updater().install(archive)


def test_no_release_is_installed_while_a_system_is_written(at: Bench) -> None:
    refused = set()

    def look(step: str, _share: float) -> None:
        with pytest.raises(InstallDeferred, match="under way"), at.store.locked():
            pass
        refused.add(step)

    updater = dataclasses.replace(at.updater(), progress=look)
    assert updater.install(at.archive("0.2.0"))
    assert refused == {"verify", "write", "start"}


def test_a_release_is_deferred_until_the_trial_of_a_system_ends(at: Bench) -> None:
    release = at.foundry.shop.make("1.1.0")
    box = PaperBox(at.store, runs="1.0.0")
    installer = ReleaseInstaller(at.store, box, at.foundry.shop.signers)
    tried(at, "0.2.0")
    with pytest.raises(InstallDeferred, match="A system is on trial"):
        installer.install(release)
    at.updater().settle_trial()
    (at.store.folder("1.0.0") / "kind").write_text("good")
    assert installer.install(release)


def test_an_unreadable_trial_does_not_block_releases_forever(at: Bench) -> None:
    at.updater().settle_trial()
    (at.slot_state.folder / "trial.json").write_bytes(b"\xff")
    assert at.store.system_on_trial()
    assert at.updater().settle_trial() == ""
    assert not at.store.system_on_trial()


def test_a_system_of_unknown_version_is_replaced_only_with_the_downgrade_option(at: Bench) -> None:
    """Otherwise every older system that was ever signed would count as new."""
    at.machine.said = None
    archive = at.archive("0.0.9")
    with pytest.raises(StorageError, match="version of the running system is unknown"):
        at.updater().install(archive)
    assert at.card.notes == []
    assert at.updater().install(archive, InstallOptions(downgrade=True, start=False))
