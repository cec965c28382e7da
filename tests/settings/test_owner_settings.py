"""A change of the owner's file is atomic, and the last change can be undone."""

from __future__ import annotations

import itertools
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from appliance.errors import SettingsError, StorageError
from appliance.settings import Settings
from appliance.settings.owner_settings import OwnerSettings, fingerprint
from appliance.settings.section import Scalar
from appliance.settings.settings_change import SettingsChange

ID = "0123456789abcdef"
TEXT = "# mine\nlink:\n  broker: ha.local  # upstairs\n  user: bob\n"


def accept_all(_: Settings) -> None:
    """A check that accepts all settings that load."""


@pytest.fixture
def owner(tmp_path: Path) -> OwnerSettings:
    made = OwnerSettings(tmp_path / "settings.yaml", tmp_path / "secrets/mqtt-password", accept_all)
    made.path.write_text(TEXT)
    return made


def change(owner: OwnerSettings, values: dict[str, Scalar], secret: str = "") -> None:
    owner.change(SettingsChange(ID, fingerprint(owner.text()), values, secret))


def undo(owner: OwnerSettings) -> None:
    owner.change(SettingsChange(ID, fingerprint(owner.text()), undo=True))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_change_takes_effect_and_keeps_the_comments(owner: OwnerSettings) -> None:
    change(owner, {"link.user": "alice", "language": "de"})
    settings = owner.settings()
    assert (settings.link.user, settings.language) == ("alice", "de")
    assert "# mine" in owner.text()
    assert "# upstairs" in owner.text()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"language": "klingon"}, "there is no language"),
        ({"link.port": 70_000}, "link.port"),
        ({"link.port": "1883"}, "link.port"),
        ({"panel.night": "25:00-07:00"}, "panel.night"),
        ({"panel.gpio": "nothing"}, "There are auto, none"),
        ({"hearing.wake.phrase": "Hey 7!"}, "has to be words in lower case"),
        ({"hearing.wake.sensitivity": 1.5}, "sensitivity"),
        ({"page.unmute": True}, "cannot be changed from here"),
    ],
)  # fmt: skip
def test_a_bad_value_changes_nothing_and_raises_the_loaders_error(
    owner: OwnerSettings, values: dict[str, Scalar], words: str
) -> None:
    with pytest.raises(SettingsError, match=words):
        change(owner, {"link.user": "alice", **values}, "secret")
    assert owner.text() == TEXT
    assert not owner.secret.exists()
    assert not owner.can_undo()


def test_settings_that_fail_the_check_are_refused(tmp_path: Path) -> None:
    def refuse_all(_: Settings) -> None:
        raise SettingsError("This box has no button.", "Wire one.")

    owner = OwnerSettings(tmp_path / "settings.yaml", tmp_path / "password", refuse_all)
    with pytest.raises(SettingsError, match="no button"):
        change(owner, {"panel.gpio": "none"})
    assert not owner.path.exists()


def test_a_file_that_is_already_invalid_is_not_changed(owner: OwnerSettings) -> None:
    owner.path.write_text("link:\n  brocker: ha.local\n")
    with pytest.raises(SettingsError, match=r"there is no setting `link[.]brocker`"):
        change(owner, {"language": "de"})


def test_the_first_change_creates_the_file(tmp_path: Path) -> None:
    owner = OwnerSettings(tmp_path / "new/settings.yaml", tmp_path / "new/password", accept_all)
    change(owner, {"language": "de"})
    assert owner.text() == "language: de\n"
    assert mode(owner.path) == 0o644
    undo(owner)
    assert owner.text() == ""


def test_a_change_keeps_the_mode_of_a_private_file(owner: OwnerSettings) -> None:
    owner.path.chmod(0o600)
    change(owner, {"language": "de"})
    assert {mode(path) for path in owner.path.parent.glob("settings*")} == {0o600}


def test_only_the_last_change_can_be_undone_and_only_once(owner: OwnerSettings) -> None:
    assert not owner.can_undo()
    change(owner, {"language": "de"})
    change(owner, {"language": "fr"})
    assert owner.can_undo()
    undo(owner)
    assert owner.settings().language == "de"
    assert not owner.can_undo()
    with pytest.raises(SettingsError, match="no change to undo"):
        undo(owner)


def test_after_an_edit_by_hand_there_is_no_undo(owner: OwnerSettings) -> None:
    change(owner, {"language": "de"})
    by_hand = owner.text() + "mode: wake_word\n"
    owner.path.write_text(by_hand)
    assert not owner.can_undo()
    with pytest.raises(SettingsError):
        undo(owner)
    assert owner.text() == by_hand


def test_a_change_based_on_an_old_version_of_the_file_is_refused(owner: OwnerSettings) -> None:
    old = fingerprint(owner.text())
    change(owner, {"language": "de"})
    with pytest.raises(SettingsError, match="changed meanwhile"):
        owner.change(SettingsChange(ID, old, {"language": "fr"}))
    assert owner.settings().language == "de"


def test_of_concurrent_changes_one_succeeds_and_the_others_raise(owner: OwnerSettings) -> None:
    base, errors, ready = fingerprint(TEXT), [], threading.Barrier(8)

    def change_port(number: int) -> None:
        ready.wait(10)
        try:
            owner.change(SettingsChange(ID, base, {"link.port": 2000 + number}))
            errors.append("")
        except SettingsError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=change_port, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(map(bool, errors)) == [False] + [True] * 7
    undo(owner)
    assert owner.text() == TEXT


def test_the_password_is_written_to_a_separate_private_file(owner: OwnerSettings) -> None:
    change(owner, {}, "correct horse")
    assert owner.secret.read_text() == "correct horse\n"
    assert mode(owner.secret) == 0o600
    assert mode(owner.secret.parent) == 0o700
    for path in owner.path.parent.glob("settings*"):
        assert "horse" not in path.read_text()
    assert owner.settings().link.password_file == ""  # systemd passes it as a credential


@pytest.mark.parametrize(
    "values",
    [{"link.broker": "10.0.0.9"}, {"link.port": 1884}, {"link.user": "alice"}, {"link.tls": True}],
    ids=lambda values: next(iter(values)),
)
def test_the_saved_password_is_not_reused_for_another_broker(
    owner: OwnerSettings, values: dict[str, Scalar]
) -> None:
    change(owner, {}, "first")
    before = owner.text()
    with pytest.raises(SettingsError, match="Type the password, too") as caught:
        change(owner, values)
    assert caught.value.on_page.key == "page-wrong-broker-password"
    assert owner.text() == before
    change(owner, {**values, "language": "de"}, "second")
    assert owner.secret.read_text() == "second\n"


def test_a_password_in_the_owners_own_file_is_not_reused_either(
    owner: OwnerSettings,
) -> None:
    owner.path.write_text(f"{TEXT}  password_file: /somewhere\n")
    with pytest.raises(SettingsError, match="Type the password, too"):
        change(owner, {"link.broker": "10.0.0.9"})


@pytest.mark.parametrize(("given", "refused"), [("first\n", True), ("\n", False)])
def test_a_process_that_cannot_read_the_password_sees_it_in_systemds_credential(
    owner: OwnerSettings, tmp_path: Path, given: str, refused: bool
) -> None:
    credential = tmp_path / "given"
    credential.write_text(given)  # an empty line if the owner has no password
    page = OwnerSettings(owner.path, owner.secret, accept_all, given=credential)
    asked = SettingsChange(ID, fingerprint(page.text()), {"link.broker": "10.0.0.9"})
    if not refused:
        page.check_change(asked)
        return
    with pytest.raises(SettingsError, match="Type the password, too"):
        page.check_change(asked)


def test_without_a_user_the_broker_can_be_changed_without_a_password(
    owner: OwnerSettings,
) -> None:
    change(owner, {}, "first")
    change(owner, {"link.broker": "10.0.0.9", "link.user": ""})
    with pytest.raises(SettingsError, match="Type the password, too"):
        change(owner, {"link.user": "bob"})
    change(owner, {"link.name": "Attic"})
    change(owner, {"link.broker": "", "link.user": "bob"})


def test_without_systemd_the_settings_name_the_password_file(owner: OwnerSettings) -> None:
    named = OwnerSettings(owner.path, owner.secret, accept_all, named=True)
    change(named, {}, "correct horse")
    assert named.settings().link.password_file == str(owner.secret)


def test_undo_restores_a_password_that_was_changed_with_the_settings(
    owner: OwnerSettings,
) -> None:
    change(owner, {"link.user": "alice"}, "first")
    change(owner, {"link.user": "carol"}, "second")
    undo(owner)
    assert (owner.settings().link.user, owner.secret.read_text()) == ("alice", "first\n")
    change(owner, {"link.user": "dora"}, "third")
    change(owner, {"language": "de"})
    undo(owner)
    assert owner.secret.read_text() == "third\n"
    assert [path.name for path in owner.secret.parent.iterdir()] == ["mqtt-password"]


def test_undo_removes_the_first_password(owner: OwnerSettings) -> None:
    change(owner, {}, "first")
    assert owner.text() == TEXT
    assert owner.can_undo()
    undo(owner)
    assert not owner.secret.exists()


class PowerCut(Exception):
    """Simulates a loss of power."""


@contextmanager
def cut_at(
    step: int, monkeypatch: pytest.MonkeyPatch, *, unlinks: bool = False
) -> Iterator[list[str]]:
    """Raise PowerCut before rename number `step`, counted from 0; `unlinks` counts those, too."""
    done: list[str] = []
    rename, unlink = Path.rename, Path.unlink

    def renamed(path: Path, target: Path) -> Path:
        if len(done) == step:
            raise PowerCut
        done.append(Path(target).name)
        return rename(path, target)

    def unlinked(path: Path, missing_ok: bool = False) -> None:
        if len(done) == step:
            raise PowerCut
        done.append(f"without {path.name}")
        unlink(path, missing_ok=missing_ok)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", renamed)
        if unlinks:
            patched.setattr(Path, "unlink", unlinked)
        yield done


@pytest.mark.parametrize("step", range(7))
def test_after_a_power_cut_the_change_is_either_complete_or_absent(
    owner: OwnerSettings, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(owner, {"language": "fr"}, "first")
    before, cut = owner.text(), False
    with cut_at(step, monkeypatch) as done:
        try:
            change(owner, {"language": "de"}, "second")
        except PowerCut:
            cut = True
    assert cut == (step < 6), done
    made = "settings.yaml" in done
    assert owner.settings().language == ("de" if made else "fr")
    assert made or owner.text() == before
    assert owner.can_undo() == made
    change(owner, {"language": "es"}, "third")  # leftover files do not hinder the next change
    assert (owner.settings().language, owner.secret.read_text()) == ("es", "third\n")
    undo(owner)
    assert owner.settings().language == ("de" if made else "fr")
    assert owner.secret.read_text() == ("second\n" if made else "first\n")


@pytest.mark.parametrize("former", ["first", ""])
@pytest.mark.parametrize("values", [{"language": "de"}, {}])
def test_an_undo_after_a_power_cut_restores_settings_and_password(
    tmp_path: Path, values: dict[str, Scalar], former: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for step in itertools.count():
        folder = tmp_path / str(step)
        owner = OwnerSettings(folder / "settings.yaml", folder / "mqtt-password", accept_all)
        change(owner, {"language": "fr"}, former)
        before, cut = owner.text(), False
        change(owner, values, "second")
        with cut_at(step, monkeypatch, unlinks=True) as done:
            try:
                undo(owner)
            except PowerCut:
                cut = True
        with suppress(SettingsError):  # raised if the first undo was complete
            undo(owner)
        assert owner.text() == before, done
        assert owner.secret.exists() == bool(former), done
        assert not former or owner.secret.read_text() == f"{former}\n", done
        assert not owner.can_undo(), done
        if not cut:
            assert step > 6
            return


@pytest.mark.parametrize("how", ["replaced", "written again", "removed"])
@pytest.mark.parametrize("values", [{}, {"language": "de"}])
def test_after_the_owner_changed_the_password_file_there_is_no_undo(
    owner: OwnerSettings, values: dict[str, Scalar], how: str
) -> None:
    change(owner, {}, "first")
    change(owner, values, "second")
    assert owner.can_undo()
    before = owner.text()
    if how == "replaced":
        fresh = owner.secret.with_name("fresh")
        fresh.write_text("by hand\n")
        fresh.rename(owner.secret)
    elif how == "written again":
        written_ns = owner.secret.stat().st_mtime_ns
        owner.secret.write_text("by hand\n")
        os.utime(owner.secret, ns=(written_ns, written_ns + 10**9))  # a second later
    else:
        owner.secret.unlink()
    assert not owner.can_undo()
    with pytest.raises(SettingsError, match="no change to undo"):
        undo(owner)
    assert owner.text() == before
    assert how == "removed" or owner.secret.read_text() == "by hand\n"


def test_a_disk_that_fills_during_a_change_leaves_the_former_password(
    owner: OwnerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(owner, {"language": "fr"}, "first")
    rename = Path.rename

    def full(path: Path, target: Path) -> Path:
        if Path(target) == owner.path:
            raise OSError(28, os.strerror(28))
        return rename(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", full)
        with pytest.raises(StorageError, match="No space left"):
            change(owner, {"language": "de"}, "second")
    assert (owner.settings().language, owner.secret.read_text()) == ("fr", "first\n")


def test_a_failed_write_raises_storage_error_and_changes_nothing(
    owner: OwnerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(StorageError, match="No space left"):
            change(owner, {"language": "de"})
    assert owner.text() == TEXT


def test_a_damaged_undo_record_is_not_used(owner: OwnerSettings) -> None:
    change(owner, {"language": "de"})
    for damage in (b"", b"{", b"[" * 5000, b'{"before": 1}'):
        owner.path.with_name("settings-undo.json").write_bytes(damage)
        assert not owner.can_undo()
