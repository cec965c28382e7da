"""A compromised part can neither bring back a system that a security update forbids, nor prevent
the one that it requires."""

from __future__ import annotations

import dataclasses
import json

import pytest

from appliance.errors import HealthCheckFailed, ReleaseRefused
from appliance.update.release.installer import SECURITY_TRIES, InstallOptions
from appliance.update.release.security_record import NOTE
from appliance.update.request import SYSTEMS, offers, request_return
from appliance.update.system.request import install_wanted, returns_to
from appliance.update.system.slot_state import SlotContent
from image.firmware import TRYBOOT
from tests.update.system.workshop import RELEASE, Bench

pytestmark = pytest.mark.process


def requires(at: Bench, least: str) -> None:
    """A release that was kept required systems from `least` on."""
    (at.store.root / NOTE).write_text(json.dumps({"least_system": least}))


def tried(at: Bench, version: str, kind: str = "good") -> None:
    at.machine.kinds[version] = kind
    assert at.updater().install(at.archive(version))
    at.machine.power(TRYBOOT)


def kept(at: Bench, version: str) -> None:
    tried(at, version)
    at.updater().settle_trial()
    at.version_that_starts()
    at.updater().settle_trial()


def goes_back(at: Bench) -> None:
    """As a part does: the note of an unprivileged user."""
    incoming = at.folder / "incoming"
    incoming.mkdir(exist_ok=True)
    request_return(incoming, SYSTEMS)
    install_wanted(at.updater(), InstallOptions(), incoming)


# ── the floor ────────────────────────────────────────────────────────────────────────────────
def test_no_system_below_the_floor_is_returned_to(at: Bench) -> None:
    at.updater().settle_trial()
    kept(at, "0.2.0")
    assert returns_to(at.slot_state, at.machine.slot(), at.store.root) == "0.1.0"
    requires(at, "0.2.0")
    assert returns_to(at.slot_state, at.machine.slot(), at.store.root) is None
    with pytest.raises(ReleaseRefused, match="nothing earlier"):
        goes_back(at)
    with pytest.raises(ReleaseRefused, match=r"0\.1\.0 is older than 0\.2\.0"):
        at.updater().begin_trial(0.0)
    assert at.machine.asked == []
    assert at.updater().begin_trial(0.0, downgrade=True) == "0.1.0"


def test_no_system_below_the_floor_is_installed_or_offered(at: Bench) -> None:
    requires(at, "0.3.0")
    incoming = at.folder / "incoming"
    incoming.mkdir()
    for version in ("0.2.0", "0.3.0"):
        at.archive(version).rename(incoming / f"{version}.system")
    os_release = at.folder / "os-release"
    os_release.write_text('IMAGE_ID=interlude\nIMAGE_VERSION="0.1.0"\n')
    assert [offer.version for offer in offers(at.store, incoming, os_release)] == ["0.3.0"]
    with pytest.raises(ReleaseRefused, match=r"0\.2\.0 is older than 0\.3\.0"):
        at.updater().install(incoming / "0.2.0.system")
    assert at.machine.asked == []
    assert at.updater().install(incoming / "0.2.0.system", InstallOptions(downgrade=True))


# ── a revoked key ────────────────────────────────────────────────────────────────────────────
def test_a_system_whose_key_is_revoked_is_not_returned_to(at: Bench) -> None:
    kept(at, "0.2.0")
    kept(at, "0.3.0")
    fresh = at.foundry.shop.new_key("fresh")
    trusted = at.folder / "allowed_signers"
    trusted.write_text(f"release@interlude {fresh.with_suffix('.pub').read_text()}")
    updater = dataclasses.replace(at.updater(), signers=trusted)
    with pytest.raises(ReleaseRefused, match="not signed with a key"):
        updater.begin_trial(0.0)
    assert at.updater().begin_trial(0.0) == "0.2.0"


def test_the_system_that_came_with_the_card_has_no_signature_and_may_be_returned_to(
    at: Bench,
) -> None:
    at.updater().settle_trial()
    kept(at, "0.2.0")
    content = at.slot_state.content("a")
    assert content is not None
    assert (content.version, content.signatures) == ("0.1.0", "")
    updater = dataclasses.replace(at.updater(), signers=at.folder / "none")
    assert updater.begin_trial(0.0) == "0.1.0"


def test_a_slot_that_an_earlier_version_wrote_is_the_same_system(at: Bench) -> None:
    tried(at, "0.2.0")
    content = at.slot_state.content("b")
    assert content is not None
    earlier = SlotContent(content.version, content.system_sha256)
    assert content.signatures
    assert earlier.is_same(content)
    assert not earlier.is_same(SlotContent(content.version, "0" * 64))


# ── a veto against the repair ────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("kind", ["crashes", "gives up speaker", "hangs"])
def test_a_part_that_kills_its_siblings_does_not_prevent_a_required_system(
    at: Bench, kind: str
) -> None:
    requires(at, "0.2.0")
    tried(at, "0.2.0", kind)
    for _ in range(SECURITY_TRIES - 1):
        with pytest.raises(HealthCheckFailed):
            at.updater().settle_trial()
        assert at.version_that_starts() == "0.1.0"
        assert "It is tried again." in at.updater().settle_trial()
        assert at.machine.asked == [TRYBOOT]
        at.machine.power(TRYBOOT)
        assert at.machine.said == "0.2.0"
    assert "It is kept, because a security update requires it" in at.updater().settle_trial()
    assert at.version_that_starts() == "0.2.0"
    last = at.slot_state.last()
    assert last is not None
    assert last.key == "page-wrong-system-kept-unwell"
    assert at.slot_state.trial() is None


@pytest.mark.parametrize("least", ["", "0.1.0", "0.3.0"])
def test_a_system_that_no_security_update_requires_is_tried_once(at: Bench, least: str) -> None:
    """Nothing requires one; the running one fulfils it; the new one would not."""
    if least:
        requires(at, least)
    at.machine.kinds["0.2.0"] = "crashes"
    assert at.updater().install(at.archive("0.2.0"), InstallOptions(downgrade=True))
    at.machine.power(TRYBOOT)
    with pytest.raises(HealthCheckFailed):
        at.updater().settle_trial()
    assert at.version_that_starts() == "0.1.0"
    assert "failed its health check" in at.updater().settle_trial()
    assert (at.machine.asked, at.slot_state.trial()) == ([], None)


def test_a_required_system_that_does_not_come_up_is_not_tried_again(at: Bench) -> None:
    requires(at, "0.2.0")
    tried(at, "0.2.0")
    assert at.version_that_starts() == "0.1.0"
    assert at.updater().settle_trial() == "The system 0.2.0 did not come up."
    assert (at.machine.asked, at.slot_state.trial()) == ([], None)


def test_a_required_system_that_says_it_is_another_one_is_never_kept(at: Bench) -> None:
    requires(at, "0.2.0")
    tried(at, "0.2.0")
    for number in range(SECURITY_TRIES):
        at.machine.said = "0.1.9"
        with pytest.raises(HealthCheckFailed, match=r"it says it is 0\.1\.9"):
            at.updater().settle_trial()
        assert at.version_that_starts() == "0.1.0"
        at.updater().settle_trial()
        if number < SECURITY_TRIES - 1:
            at.machine.power(TRYBOOT)
    assert at.slot_state.trial() is None
    assert at.store.kept() == RELEASE
