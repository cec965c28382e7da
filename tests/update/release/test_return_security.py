"""A compromised part of the box asks for a return, kills its siblings, and lies about its health.

It may do what the user `interlude` may: write notes, end processes of that user, and write any file
in the box's folders of /run and /var/lib. It must neither undo a security update, nor start a
release of a revoked key, nor prevent its own repair.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import pwd
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec
import pytest

from appliance.errors import HealthCheckFailed, ReleaseRefused
from appliance.language.catalogue import english
from appliance.update import signature
from appliance.update.archive_parts import sign_archive, write_parts
from appliance.update.health_check import HealthReading
from appliance.update.release import rejected, security_record
from appliance.update.release.archive import RELEASE
from appliance.update.release.installer import SECURITY_TRIES, InstallOptions
from appliance.update.release.pack import squeeze
from appliance.update.release.rejected import REQUESTED_S
from appliance.update.release.target import SelfTestInterrupted
from appliance.update.request import install_wanted, offers, request_return, returns_to
from tests.update.release.workshop import MADE_S, Bench, PaperBox

pytestmark = pytest.mark.process

FIX = {"security": True}


@pytest.fixture
def box(at: Bench) -> Bench:
    """The box runs 0.2.0; the release before is 0.1.0."""
    for version in ("0.1.0", "0.2.0"):
        at.installer().install(at.shop.make(version))
    return at


@pytest.fixture
def incoming(tmp_path: Path) -> Path:
    folder = tmp_path / "incoming"
    folder.mkdir()
    return folder


def asks_to_go_back(box: Bench, incoming: Path) -> None:
    """As a part does: the note of an unprivileged user."""
    request_return(incoming)
    install_wanted(box.installer(), InstallOptions(), incoming)


def state(box: Bench) -> tuple[str | None, str]:
    return box.store.kept(), box.box.runs


# ── a release whose key is revoked ───────────────────────────────────────────────────────────
def test_the_signatures_of_an_installed_release_are_kept_beside_it(box: Bench) -> None:
    folder = box.store.folder("0.2.0")
    assert (folder / "release.json.sig").stat().st_mode & 0o777 == 0o644
    assert box.store.trusts("0.2.0", box.shop.signers)
    (folder / "release.json").write_bytes((folder / "release.json").read_bytes() + b" ")
    assert box.store.trusts("0.2.0", box.shop.signers) is False


@pytest.mark.parametrize("who", ["a part", "root"])
def test_no_return_starts_a_release_whose_key_is_revoked(
    box: Bench, incoming: Path, who: str
) -> None:
    fresh = box.shop.new_key("fresh")
    box.shop.trust(box.shop.key, fresh)
    box.installer().install(box.shop.make("0.3.0", key=fresh))
    box.shop.trust(fresh)
    restarts = box.box.restarts
    goes_back: Callable[[], object] = box.installer().rollback
    if who == "a part":
        goes_back = partial(asks_to_go_back, box, incoming)
    with pytest.raises(ReleaseRefused, match=r"0\.2\.0 is signed with a key that .* no longer"):
        goes_back()
    assert (state(box), box.box.restarts) == (("0.3.0", "0.3.0"), restarts)
    assert box.installer().rollback(InstallOptions(downgrade=True)) == "0.2.0"


@pytest.mark.parametrize(
    ("lacks", "why"), [("signatures", "cannot be read"), ("keys", "trusts no key")]
)
def test_no_return_starts_a_release_whose_signature_cannot_be_verified(
    box: Bench, lacks: str, why: str
) -> None:
    if lacks == "keys":
        box.shop.signers.unlink()
    else:
        kept = box.store.folder("0.1.0") / "release.json.sig"
        kept.unlink()
        kept.mkdir()
    with pytest.raises(ReleaseRefused, match=why):
        box.installer().rollback()
    assert state(box) == ("0.2.0", "0.2.0")


def test_releases_of_a_revoked_key_are_removed_once_another_one_is_kept(box: Bench) -> None:
    fresh = box.shop.new_key("fresh")
    box.shop.trust(fresh)
    box.installer().install(box.shop.make("0.3.0", key=fresh))
    assert [each.version for each in box.store.installed()] == ["0.3.0"]
    assert box.store.previous() is None
    assert not os.path.lexists(box.store.root / "previous")


def test_the_release_that_runs_is_never_removed_whoever_signed_it(box: Bench) -> None:
    box.shop.trust(box.shop.new_key("fresh"))
    assert box.store.drop_untrusted(box.shop.signers) == []
    assert len(box.store.installed()) == 2  # the current one is not trusted itself: all stay
    box.shop.signers.unlink()
    assert box.store.drop_untrusted(box.shop.signers) == []


def test_the_release_on_trial_is_not_removed_though_its_key_is_revoked(box: Bench) -> None:
    fresh = box.shop.new_key("fresh")
    box.shop.trust(box.shop.key, fresh)
    box.installer().install(box.shop.make("0.3.0", key=fresh))
    box.shop.trust(fresh)
    box.store.begin_trial("0.1.0")
    assert box.store.drop_untrusted(box.shop.signers) == ["0.2.0"]


def test_a_box_without_kept_signatures_goes_back_as_before(box: Bench, incoming: Path) -> None:
    """An earlier version of the installer kept none, and a card comes without."""
    for version in ("0.1.0", "0.2.0"):
        (box.store.folder(version) / "release.json.sig").unlink()
    box.shop.trust(box.shop.new_key("fresh"))
    asks_to_go_back(box, incoming)
    assert state(box) == ("0.1.0", "0.1.0")


def test_the_same_archive_installed_again_brings_the_missing_signatures(box: Bench) -> None:
    kept = box.store.folder("0.2.0") / "release.json.sig"
    before = kept.read_bytes()
    kept.unlink()
    assert not box.installer().install(box.shop.make("0.2.0"))
    assert kept.read_bytes() == before


def test_signatures_of_other_bytes_do_not_replace_those_of_the_installed_manifest(
    box: Bench,
) -> None:
    """The same fields, written in another way: the release would count as of a revoked key."""
    folder = box.store.folder("0.2.0")
    manifest = (folder / "release.json").read_bytes() + b"\n"
    (folder / "release.json").write_bytes(manifest)
    (folder / "release.json.sig").write_bytes(signature.sign(manifest, box.shop.key))
    assert not box.installer().install(box.shop.make("0.2.0"))
    assert box.store.trusts("0.2.0", box.shop.signers)


# ── the floor of a security update ───────────────────────────────────────────────────────────
@pytest.fixture
def repaired(box: Bench) -> Bench:
    """A box on which 0.3.0 closed a hole of 0.2.0."""
    box.installer().install(box.shop.make("0.3.0", policy=FIX))
    return box


def test_a_part_cannot_undo_a_security_update(repaired: Bench, incoming: Path) -> None:
    assert returns_to(repaired.store) is None
    with pytest.raises(ReleaseRefused, match="nothing earlier"):
        asks_to_go_back(repaired, incoming)
    with pytest.raises(ReleaseRefused, match=r"0\.2\.0 is older than 0\.3\.0"):
        repaired.installer().rollback()
    assert state(repaired) == ("0.3.0", "0.3.0")


def test_the_floor_outlasts_the_release_that_set_it(repaired: Bench) -> None:
    """A signed 0.3.1 without a floor is laid on top, then the record is all that remembers it."""
    repaired.installer().install(repaired.shop.make("0.3.1"))
    assert repaired.store.security().least_version == "0.3.0"
    assert repaired.installer().rollback() == "0.3.0"
    with pytest.raises(ReleaseRefused, match="older than"):
        repaired.installer().install(repaired.shop.make("0.2.9"))
    root = repaired.installer()
    assert root.install(repaired.shop.make("0.2.9"), InstallOptions(downgrade=True))
    assert repaired.store.security().least_version == "0.3.0"
    with pytest.raises(ReleaseRefused, match=r"older than 0\.3\.0, which a security update"):
        repaired.installer().install(repaired.shop.make("0.2.10"))


def test_the_floor_of_systems_outlasts_the_release_that_set_it(box: Bench) -> None:
    box.installer().install(box.shop.make("0.3.0", policy={"least_system": "0.2.0"}))
    box.installer().install(box.shop.make("0.3.1"))
    assert box.store.security().least_system == "0.2.0"


def test_after_roots_downgrade_nothing_below_the_floor_is_offered_or_installed(
    repaired: Bench, incoming: Path
) -> None:
    repaired.installer().install(repaired.shop.make("0.2.0"), InstallOptions(downgrade=True))
    for version in ("0.2.5", "0.3.0"):
        file = repaired.shop.make(version, policy=FIX if version == "0.3.0" else None)
        file.rename(incoming / file.name)
    assert [offer.version for offer in offers(repaired.store, incoming)] == ["0.3.0"]
    with pytest.raises(ReleaseRefused, match=r"0\.2\.5 is older than 0\.3\.0"):
        repaired.installer().install(incoming / "interlude-0.2.5-any.release")


def test_a_floor_that_was_not_written_still_holds_while_its_release_is_kept(
    repaired: Bench,
) -> None:
    """An earlier version of the installer writes none, and a power cut may prevent it."""
    (repaired.store.root / security_record.NOTE).unlink()
    assert repaired.store.security().least_version == "0.3.0"
    with pytest.raises(ReleaseRefused, match="older than"):
        repaired.installer().rollback()


def test_a_floor_counts_only_after_the_health_check(box: Bench) -> None:
    bad = box.shop.make("0.3.0", "crashes", policy={"least_version": "0.3.0"})
    with pytest.raises(HealthCheckFailed):
        box.installer().install(bad)
    assert box.store.security().least_version == ""
    assert box.installer().rollback() == "0.1.0"


# ── a veto against the repair ────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("kind", ["crashes", "hangs", "gives up speaker"])
def test_a_part_that_kills_its_siblings_does_not_prevent_a_security_update(
    box: Bench, kind: str
) -> None:
    restarts = box.box.restarts
    assert box.installer().install(box.shop.make("0.3.0", kind, policy=FIX))
    assert state(box) == ("0.3.0", "0.3.0")
    assert box.box.restarts - restarts == SECURITY_TRIES + 1
    assert rejected.find(box.store.root, "0.3.0") is None
    record = box.store.security()
    assert (record.unwell, record.least_version) == ("0.3.0", "0.3.0")
    assert record.why


def test_a_security_update_is_tried_as_often_as_its_owner_is_told() -> None:
    number = {2: "twice", 3: "three times", 4: "four times"}[SECURITY_TRIES]
    for key in ("release-kept-unwell", "page-wrong-system-kept-unwell"):
        assert number in english().say(key, version="0.3.0", why="it ended by itself")


def test_the_same_release_without_the_mark_is_undone(box: Bench) -> None:
    with pytest.raises(HealthCheckFailed):
        box.installer().install(box.shop.make("0.3.0", "crashes"))
    assert state(box) == ("0.2.0", "0.2.0")
    assert box.store.security().unwell == ""


def test_a_security_update_that_does_well_the_second_time_is_well(box: Bench) -> None:
    @dataclass
    class KilledOnce(PaperBox):
        killed: list[int] = field(default_factory=list)

        def read_health(self) -> HealthReading:
            if self.runs == "0.3.0" and len(self.killed) < 1:
                self.killed.append(self.restarts)
                return HealthReading("starting", restarts=1)
            return super().read_health()

    box.box = KilledOnce(box.store, runs="0.2.0", restarts=5)
    assert box.installer().install(box.shop.make("0.3.0", policy=FIX))
    assert box.box.restarts == 7
    assert box.store.security().unwell == ""


def test_a_part_that_talks_for_ever_only_delays_a_security_update(box: Bench) -> None:
    box.box.quiet_at_s = box.box.time_s + 1e6
    began_s = box.box.time_s
    assert box.installer().install(box.shop.make("0.3.0", policy=FIX), InstallOptions(wait_s=60.0))
    assert box.store.kept() == "0.3.0"
    assert box.box.time_s - began_s >= 60.0


@dataclass
class Killer(PaperBox):
    """A box whose parts end each self-test with a signal, which is of the same user."""

    tests: int = 0

    def run_selftest(self, release: Path) -> None:
        self.tests += 1
        raise SelfTestInterrupted("Its self-test failed: signal 9")


def test_a_part_that_kills_the_self_test_does_not_prevent_a_security_update(box: Bench) -> None:
    killer = box.box = Killer(box.store, runs="0.2.0", restarts=5)
    with pytest.raises(ReleaseRefused, match="signal 9"):
        box.installer().install(box.shop.make("0.2.5"))
    assert killer.tests == 1
    assert box.installer().install(box.shop.make("0.3.0", policy=FIX))
    assert killer.tests == 1 + SECURITY_TRIES
    assert box.store.kept() == "0.3.0"


def test_a_security_update_that_cannot_run_here_is_refused(box: Bench) -> None:
    """Its self-test ends by itself, with an error: no part did that."""
    with pytest.raises(ReleaseRefused, match="no module named soxr"):
        box.installer().install(box.shop.make("0.3.0", "fails its self-test", policy=FIX))
    assert state(box) == ("0.2.0", "0.2.0")


def test_a_later_release_clears_the_note_about_one_that_was_kept_unwell(box: Bench) -> None:
    box.installer().install(box.shop.make("0.3.0", "crashes", policy=FIX))
    box.installer().install(box.shop.make("0.3.1"))
    assert box.store.security().unwell == ""
    assert box.store.security().least_version == "0.3.0"


# ── who asked for a return ───────────────────────────────────────────────────────────────────
def test_the_note_of_a_return_says_who_asked_and_ends_after_a_week(
    box: Bench, incoming: Path
) -> None:
    asks_to_go_back(box, incoming)
    entry = rejected.find(box.store.root, "0.2.0")
    assert entry is not None
    assert (entry.why, entry.asked_by) == ("returned", pwd.getpwuid(os.geteuid()).pw_name)
    noted_s = box.box.clock
    assert rejected.skipped(box.store.root, "0.2.0", noted_s + REQUESTED_S - 1.0) == entry
    assert rejected.skipped(box.store.root, "0.2.0", noted_s + REQUESTED_S) is None
    assert (
        rejected.skipped(box.store.root, "0.2.0", noted_s - 3600.0) is None
    )  # the clock was wrong


def test_a_return_by_roots_command_holds_for_good(box: Bench) -> None:
    box.installer().rollback()
    entry = rejected.skipped(box.store.root, "0.2.0", box.box.clock + 100 * REQUESTED_S)
    assert entry is not None
    assert entry.asked_by == ""


def test_a_note_of_an_earlier_version_holds_for_good(tmp_path: Path) -> None:
    (tmp_path / rejected.NOTE).write_text('{"releases": [{"version": "0.2.0", "why": "returned"}]}')
    assert rejected.skipped(tmp_path, "0.2.0", 2e9) is not None


def with_policy(box: Bench, version: str, policy: bytes) -> Path:
    """A signed release with a policy that `pack` refuses."""
    archive, tree = box.shop.make(version), box.shop.folder / f"tree-{version}-good"
    (tree / "policy").mkdir()
    (tree / "policy/policy.json").write_bytes(policy)
    data, files_bytes = squeeze(tree, 9)
    manifest = RELEASE.peek(archive)
    assert manifest is not None
    manifest = msgspec.structs.replace(
        manifest, tree_sha256=hashlib.sha256(data).hexdigest(), tree_bytes=len(data),
        files_bytes=files_bytes,
    )  # fmt: skip
    write_parts(archive, RELEASE.parts, manifest.encode(), MADE_S, io.BytesIO(data))
    sign_archive(archive, box.shop.key)
    return archive


def test_an_invalid_policy_is_refused_before_the_release_is_tried(box: Bench) -> None:
    restarts = box.box.restarts
    archive = with_policy(box, "0.3.0", b'{"security": "perhaps"}')
    with pytest.raises(ReleaseRefused, match=r"policy\.json cannot be used"):
        box.installer().install(archive)
    assert (state(box), box.box.restarts) == (("0.2.0", "0.2.0"), restarts)


def test_an_archive_has_the_same_form_with_and_without_a_policy(box: Bench) -> None:
    """A box of an earlier version accepts no other field in the manifest, and no other part."""
    fields = {"version", "machine", "made_s", "python", "tree_sha256", "tree_bytes", "files_bytes"}
    for policy in (FIX, None):
        with tarfile.open(box.shop.make("0.3.0", policy=policy)) as archive:
            names = archive.getnames()
            manifest = archive.extractfile("release.json")
            assert manifest is not None
            assert set(json.load(manifest)) == fields
        assert names == ["release.json", "release.json.sig", "tree.tar.gz"]
