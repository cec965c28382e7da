"""Installing a release: kept after a good trial, rolled back after a bad one, refused if
unsuitable."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import HealthCheckFailed, InstallDeferred, ReleaseRefused, StorageError
from appliance.update.health_check import HealthReading
from appliance.update.release.archive import INSTALL_SPARE_BYTES, RELEASE
from appliance.update.release.installer import SECURITY_TRIES, InstallOptions
from appliance.update.wait_until_idle import LOOK_S, QUIET_S
from tests.update.release.workshop import MADE_S, Bench, PaperBox, TightDisk

pytestmark = pytest.mark.process


@pytest.fixture
def with_old(at: Bench) -> Bench:
    """The box runs 0.1.0."""
    assert at.installer().install(at.shop.make("0.1.0"))
    at.steps.clear()
    return at


def state(at: Bench) -> tuple[str | None, str, str | None]:
    """The kept release, the running one and the one on trial."""
    return at.store.kept(), at.box.runs, at.store.on_trial()


def tree_bytes(file: Path) -> int:
    manifest = RELEASE.peek(file)
    assert manifest is not None
    return manifest.tree_bytes


# ── healthy ──────────────────────────────────────────────────────────────────────────────────
def test_a_first_release_is_tried_and_kept(at: Bench) -> None:
    assert at.installer().install(at.shop.make("0.1.0"))
    assert state(at) == ("0.1.0", "0.1.0", None)
    assert at.steps == ["verify", "unpack", "self-test", "try", "kept"]


def test_a_newer_release_replaces_the_old_one_which_stays_installed(with_old: Bench) -> None:
    assert with_old.installer().install(with_old.shop.make("0.2.0"))
    assert state(with_old) == ("0.2.0", "0.2.0", None)
    assert with_old.store.previous() == "0.1.0"


def test_installing_the_same_release_again_changes_and_restarts_nothing(with_old: Bench) -> None:
    restarts = with_old.box.restarts
    assert not with_old.installer().install(with_old.shop.make("0.1.0"))
    assert with_old.box.restarts == restarts


def test_without_a_running_box_a_release_is_kept_untried(at: Bench) -> None:
    assert at.installer().install(at.shop.make("0.1.0"), InstallOptions(start=False))
    assert state(at) == ("0.1.0", "", None)
    assert not at.installer().install(at.shop.make("0.1.0"), InstallOptions(start=False))


def test_only_the_newest_three_releases_stay_installed(at: Bench) -> None:
    for version in ("0.1.0", "0.2.0", "0.3.0", "0.4.0", "0.5.0"):
        at.installer().install(at.shop.make(version))
    assert [m.version for m in at.store.installed()] == ["0.5.0", "0.4.0", "0.3.0"]


def test_a_box_that_was_unfit_before_accepts_a_release_that_is_no_worse(with_old: Bench) -> None:
    with_old.box.unfit = True
    assert with_old.installer().install(with_old.shop.make("0.2.0"))


# ── unhealthy ────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("crashes", "ended by itself"),
        ("hangs", "not well within"),
        ("gives up speaker", "speaker failed again and again"),
    ],
)
def test_an_unhealthy_release_is_rolled_back(with_old: Bench, kind: str, why: str) -> None:
    with pytest.raises(HealthCheckFailed, match=f"{why}.*back on 0.1.0, and works"):
        with_old.installer().install(with_old.shop.make("0.2.0", kind))
    assert state(with_old) == ("0.1.0", "0.1.0", None)


def test_a_release_that_fails_its_self_test_is_never_started(with_old: Bench) -> None:
    restarts = with_old.box.restarts
    with pytest.raises(ReleaseRefused, match="no module named soxr"):
        with_old.installer().install(with_old.shop.make("0.2.0", "fails its self-test"))
    assert with_old.box.restarts == restarts


def test_an_unhealthy_first_release_leaves_nothing_to_start(at: Bench) -> None:
    with pytest.raises(HealthCheckFailed, match="no version to go back to"):
        at.installer().install(at.shop.make("0.1.0", "crashes"))
    assert at.store.kept() is None
    assert at.store.on_trial() is None


def test_a_fault_that_existed_before_the_trial_is_not_counted_against_the_new_release(
    at: Bench,
) -> None:
    at.installer().install(at.shop.make("0.1.0", "gives up speaker"), InstallOptions(start=False))
    at.box.restart()
    at.box.wait(60.0)
    assert at.installer().install(at.shop.make("0.2.0", "gives up speaker"))


def test_the_process_of_one_try_of_a_security_update_does_not_decide_the_next_one(
    with_old: Bench,
) -> None:
    """It still answers for a while after the restart was asked for."""

    class SlowToStop(PaperBox):
        def restart(self) -> None:
            self.before = self.read_health()
            super().restart()

        def read_health(self) -> HealthReading:
            stopped = self.time_s - self.started_s >= 2.0
            return super().read_health() if stopped else self.before

    with_old.box = SlowToStop(with_old.store, runs="0.1.0")
    began_s = with_old.box.time_s
    file = with_old.shop.make("0.2.0", "gives up speaker", policy={"security": True})
    assert with_old.installer().install(file)
    assert with_old.box.time_s - began_s >= SECURITY_TRIES * 3.0  # the speaker needs 3 s for that


def test_an_interrupted_trial_is_ended_only_when_the_box_is_idle(with_old: Bench) -> None:
    """The installation was killed in its trial; the next one starts during a conversation."""
    new = with_old.shop.make("0.2.0")
    with_old.installer().install(new, InstallOptions(start=False))
    with_old.store.commit("0.1.0")
    with_old.store.begin_trial("0.2.0")
    with_old.box.restart()
    with_old.box.wait(60.0)
    restarts = with_old.box.restarts
    with_old.box.quiet_at_s = with_old.box.time_s + 4000.0
    with pytest.raises(InstallDeferred):
        with_old.installer().install(new, InstallOptions(wait_s=60.0))
    assert (with_old.box.restarts, with_old.store.on_trial()) == (restarts, "0.2.0")
    with_old.box.quiet_at_s = 0.0
    assert with_old.installer().install(new)
    assert state(with_old) == ("0.2.0", "0.2.0", None)


def test_rollback_toggles_between_two_releases(with_old: Bench) -> None:
    with_old.installer().install(with_old.shop.make("0.2.0"))
    assert with_old.installer().rollback() == "0.1.0"
    assert state(with_old) == ("0.1.0", "0.1.0", None)
    assert with_old.installer().rollback() == "0.2.0"


def test_rollback_without_an_earlier_release_is_refused(with_old: Bench) -> None:
    with pytest.raises(ReleaseRefused, match="no earlier release"):
        with_old.installer().rollback()


def test_an_earlier_release_that_cannot_run_any_more_is_not_started(with_old: Bench) -> None:
    with_old.installer().install(with_old.shop.make("0.2.0"))
    restarts = with_old.box.restarts
    (with_old.store.folder("0.1.0") / "kind").write_text("fails its self-test")
    with pytest.raises(ReleaseRefused, match="no module named soxr"):
        with_old.installer().rollback()
    assert (state(with_old), with_old.box.restarts) == (("0.2.0", "0.2.0", None), restarts)


# ── refused ──────────────────────────────────────────────────────────────────────────────────
def refused(at: Bench, file: Path, match: str) -> None:
    """Assert that the file is refused for that reason and leaves nothing behind."""
    before, restarts = state(at), at.box.restarts
    with pytest.raises(ReleaseRefused, match=match):
        at.installer().install(file)
    assert (state(at), at.box.restarts) == (before, restarts)
    assert len(list(at.store.releases.iterdir())) == len(at.store.installed())


def test_an_older_release_is_refused_without_the_downgrade_option(with_old: Bench) -> None:
    older = with_old.shop.make("0.0.9")
    refused(with_old, older, "older than 0.1.0")
    assert with_old.installer().install(older, InstallOptions(downgrade=True))


@pytest.mark.parametrize("what", ["gone", "empty", "garbled", "a folder"])
def test_an_older_release_is_refused_even_if_the_manifest_of_the_kept_one_is_unreadable(
    with_old: Bench, what: str
) -> None:
    """Otherwise one bad sector would allow every older release that was ever signed."""
    manifest = with_old.store.folder("0.1.0") / "release.json"
    manifest.unlink()
    if what == "a folder":
        manifest.mkdir()
    elif what != "gone":
        manifest.write_bytes(b"" if what == "empty" else b"\xff{")
    older = with_old.shop.make("0.0.9")
    with pytest.raises(ReleaseRefused, match=r"older than 0\.1\.0"):
        with_old.installer().install(older)
    assert state(with_old) == ("0.1.0", "0.1.0", None)
    assert (with_old.store.folder("0.1.0") / "kind").exists()  # it may be the running release
    assert with_old.installer().install(older, InstallOptions(downgrade=True))


def test_a_kept_release_with_an_unreadable_manifest_is_replaced_completely(with_old: Bench) -> None:
    (with_old.store.folder("0.1.0") / "release.json").write_bytes(b"")
    with_old.box.runs = ""
    assert with_old.installer().install(with_old.shop.make("0.1.0"))
    assert [m.version for m in with_old.store.installed()] == ["0.1.0"]
    assert [path.name for path in with_old.store.releases.iterdir()] == ["0.1.0"]


@pytest.mark.parametrize("target", ["releases/", "nonsense", None])
def test_if_the_current_link_is_unusable_only_an_explicit_downgrade_is_installed(
    with_old: Bench, target: str | None
) -> None:
    current = with_old.store.root / "current"
    current.unlink()
    if target is None:
        current.write_text("no link")
    else:
        current.symlink_to(target)
    for version in ("0.0.9", "0.2.0"):
        with pytest.raises(StorageError, match="does not say which release is kept"):
            with_old.installer().install(with_old.shop.make(version))
    if target is not None:
        assert with_old.installer().install(
            with_old.shop.make("0.2.0"), InstallOptions(downgrade=True)
        )


def test_a_release_signed_with_an_untrusted_key_is_refused(with_old: Bench) -> None:
    stranger = with_old.shop.new_key("stranger")
    refused(with_old, with_old.shop.make("0.2.0", key=stranger), "not signed with a key")


def test_an_added_key_is_trusted_and_a_removed_one_is_not(with_old: Bench) -> None:
    shop, fresh = with_old.shop, with_old.shop.new_key("fresh")
    shop.trust(shop.key, fresh)
    assert with_old.installer().install(shop.make("0.2.0", key=fresh))
    shop.trust(fresh)
    refused(with_old, shop.make("0.3.0"), "not signed with a key")


def test_without_a_trusted_key_the_error_says_so(with_old: Bench) -> None:
    with_old.shop.signers.unlink()
    refused(with_old, with_old.shop.make("0.2.0"), "trusts no key")


@pytest.mark.parametrize("where", [0.1, 0.5, 0.9])
def test_a_changed_byte_is_detected(with_old: Bench, where: float) -> None:
    file = with_old.shop.make("0.2.0", files=40)
    data = bytearray(file.read_bytes())
    tree = data.index(b"\x1f\x8b\x08")  # gzip's first bytes
    data[tree + int(where * tree_bytes(file))] ^= 0xFF
    file.write_bytes(data)
    refused(with_old, file, "damaged|no release|cannot be read")


def test_a_changed_manifest_is_detected(with_old: Bench) -> None:
    file = with_old.shop.make("0.2.0")
    file.write_bytes(file.read_bytes().replace(b'"0.2.0"', b'"0.9.0"'))
    refused(with_old, file, "not signed with a key")


@pytest.mark.parametrize("share", [-1.0, 0.0, 0.5, 0.99])
def test_a_truncated_file_is_refused(with_old: Bench, share: float) -> None:
    file = with_old.shop.make("0.2.0")
    data = file.read_bytes()
    tree = data.index(b"\x1f\x8b\x08")
    length = tree + int(share * tree_bytes(file))
    file.write_bytes(data[: max(0, length)])
    refused(with_old, file, "no release|damaged|only part")


def test_a_missing_file_is_reported(with_old: Bench, tmp_path: Path) -> None:
    refused(with_old, tmp_path / "gone.release", "cannot be read")


@pytest.mark.parametrize(
    ("made_for", "match"),
    [({"machine": "riscv64"}, "made for riscv64"), ({"python": "2.7"}, "made for Python 2.7")],
)
def test_a_release_for_another_machine_is_refused(
    with_old: Bench, made_for: dict[str, str], match: str
) -> None:
    file = with_old.shop.make("0.2.0", **made_for)  # type: ignore[arg-type]  # all strings
    refused(with_old, file, match)


def test_with_a_clock_in_1970_every_release_is_refused(with_old: Bench) -> None:
    with_old.box.clock = 3600.0
    refused(with_old, with_old.shop.make("0.2.0"), "clock says 01 January 1970")


def test_a_clock_that_is_an_hour_behind_is_accepted(with_old: Bench) -> None:
    with_old.box.clock = MADE_S - 3600.0
    assert with_old.installer().install(with_old.shop.make("0.2.0"))


def test_another_release_of_the_same_version_is_refused(with_old: Bench) -> None:
    refused(with_old, with_old.shop.make("0.1.0", "hangs"), "Another 0.1.0")


def test_a_release_that_never_passed_its_trial_may_be_rebuilt_with_the_same_version(
    with_old: Bench,
) -> None:
    with pytest.raises(HealthCheckFailed):
        with_old.installer().install(with_old.shop.make("0.2.0", "crashes"))
    assert with_old.installer().install(with_old.shop.make("0.2.0"))
    assert state(with_old) == ("0.2.0", "0.2.0", None)


# ── deferred ─────────────────────────────────────────────────────────────────────────────────
def test_an_installation_waits_for_the_end_of_a_conversation(with_old: Bench) -> None:
    with_old.box.quiet_at_s = with_old.box.time_s + 40.0
    assert with_old.installer().install(with_old.shop.make("0.2.0"))
    assert with_old.box.started_s >= with_old.box.quiet_at_s + QUIET_S - LOOK_S
    assert "wait for silence" in with_old.steps


def test_an_endless_conversation_defers_the_installation(with_old: Bench) -> None:
    with_old.box.quiet_at_s = with_old.box.time_s + 4000.0
    restarts = with_old.box.restarts
    with pytest.raises(InstallDeferred, match="A conversation is under way"):
        with_old.installer().install(with_old.shop.make("0.2.0"), InstallOptions(wait_s=60.0))
    assert with_old.box.restarts == restarts
    assert state(with_old) == ("0.1.0", "0.1.0", None)


def test_a_second_concurrent_installation_is_deferred(with_old: Bench) -> None:
    with with_old.store.locked(), pytest.raises(InstallDeferred, match="under way"):
        with_old.installer().install(with_old.shop.make("0.2.0"))


def test_no_release_is_installed_while_a_system_is_on_trial(with_old: Bench) -> None:
    """Its restarts of the box would be counted as failures of the system."""
    trial = with_old.store.root / "system/trial.json"
    trial.parent.mkdir()
    trial.write_text("{}")
    restarts = with_old.box.restarts
    with pytest.raises(InstallDeferred, match="A system is on trial"):
        with_old.installer().install(with_old.shop.make("0.2.0"))
    with pytest.raises(InstallDeferred, match="A system is on trial"):
        with_old.installer().rollback()
    assert (state(with_old), with_old.box.restarts) == (("0.1.0", "0.1.0", None), restarts)
    trial.unlink()
    assert with_old.installer().install(with_old.shop.make("0.2.0"))


# ── the disk ─────────────────────────────────────────────────────────────────────────────────
def test_missing_space_is_detected_before_anything_is_written(with_old: Bench) -> None:
    with pytest.raises(StorageError, match=r"MiB are needed.*Make room"):
        with_old.installer(TightDisk(1 << 20)).install(with_old.shop.make("0.2.0"))
    assert [m.version for m in with_old.store.installed()] == ["0.1.0"]


@pytest.mark.parametrize("after", [3, 5, 8])
def test_a_disk_that_fills_up_leaves_the_old_release_unchanged(with_old: Bench, after: int) -> None:
    with pytest.raises((StorageError, OSError), match=r"No space|unpacked"):
        with_old.installer(TightDisk(1 << 40, after)).install(with_old.shop.make("0.2.0"))
    assert state(with_old) == ("0.1.0", "0.1.0", None)
    assert with_old.installer().install(with_old.shop.make("0.2.0"))


def test_the_space_for_the_copy_is_required_too(with_old: Bench) -> None:
    file = with_old.shop.make("0.2.0")
    manifest = RELEASE.peek(file)
    assert manifest is not None
    need = INSTALL_SPARE_BYTES + manifest.tree_bytes + manifest.files_bytes
    with pytest.raises(StorageError, match="are needed"):
        with_old.installer(TightDisk(need - 1)).install(file)
    assert with_old.installer(TightDisk(need)).install(file)


def test_leftovers_of_an_interrupted_copy_are_removed_by_the_next_installation(
    with_old: Bench,
) -> None:
    """Leftovers of this version and of earlier ones, whatever kind of file they are."""
    root, outside = with_old.store.root, with_old.shop.folder / "outside"
    outside.mkdir()
    (outside / "mine").write_text("as it was")
    (root / ".handed.release").write_text("left")
    (root / ".wanted.release").symlink_to(outside)
    (root / ".more.release").mkdir()
    (with_old.store.releases / ".0.2.0.part").write_text("a file, where a folder was")
    assert with_old.installer().install(with_old.shop.make("0.2.0"))
    assert sorted(path.name for path in root.iterdir()) == [".lock", "current", "previous",
                                                             "releases"]  # fmt: skip
    assert len(list(with_old.store.releases.iterdir())) == 2
    assert (outside / "mine").read_text() == "as it was"
