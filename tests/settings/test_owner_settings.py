"""The owner's file is changed as a whole or not at all, and one change can be undone."""

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


def anything(_: Settings) -> None:
    """Every settings file that loads can be used."""


@pytest.fixture
def owner(tmp_path: Path) -> OwnerSettings:
    made = OwnerSettings(tmp_path / "settings.yaml", tmp_path / "secrets/mqtt-password", anything)
    made.path.write_text(TEXT)
    return made


def change(owner: OwnerSettings, values: dict[str, Scalar], secret: str = "") -> None:
    owner.change(SettingsChange(ID, fingerprint(owner.text()), values, secret))


def undo(owner: OwnerSettings) -> None:
    owner.change(SettingsChange(ID, fingerprint(owner.text()), undo=True))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_was_changed_counts_and_comments_stay(owner: OwnerSettings) -> None:
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
def test_a_bad_value_changes_nothing_and_is_said_as_the_file_would_be(
    owner: OwnerSettings, values: dict[str, Scalar], words: str
) -> None:
    with pytest.raises(SettingsError, match=words):
        change(owner, {"link.user": "alice", **values}, "secret")
    assert owner.text() == TEXT
    assert not owner.secret.exists()
    assert not owner.can_undo()


def test_settings_that_this_box_cannot_use_are_refused(tmp_path: Path) -> None:
    def never(_: Settings) -> None:
        raise SettingsError("This box has no button.", "Wire one.")

    owner = OwnerSettings(tmp_path / "settings.yaml", tmp_path / "password", never)
    with pytest.raises(SettingsError, match="no button"):
        change(owner, {"panel.gpio": "none"})
    assert not owner.path.exists()


def test_a_file_that_is_wrong_already_is_left_for_its_owner(owner: OwnerSettings) -> None:
    owner.path.write_text("link:\n  brocker: ha.local\n")
    with pytest.raises(SettingsError, match=r"there is no setting `link[.]brocker`"):
        change(owner, {"language": "de"})


def test_the_first_change_makes_the_file(tmp_path: Path) -> None:
    owner = OwnerSettings(tmp_path / "new/settings.yaml", tmp_path / "new/password", anything)
    change(owner, {"language": "de"})
    assert owner.text() == "language: de\n"
    assert mode(owner.path) == 0o644
    undo(owner)
    assert owner.text() == ""


def test_a_file_that_others_may_not_read_stays_so(owner: OwnerSettings) -> None:
    owner.path.chmod(0o600)
    change(owner, {"language": "de"})
    assert {mode(path) for path in owner.path.parent.glob("settings*")} == {0o600}


def test_one_change_is_undone_once(owner: OwnerSettings) -> None:
    assert not owner.can_undo()
    change(owner, {"language": "de"})
    change(owner, {"language": "fr"})
    assert owner.can_undo()
    undo(owner)
    assert owner.settings().language == "de"
    assert not owner.can_undo()
    with pytest.raises(SettingsError, match="no change to undo"):
        undo(owner)


def test_a_line_that_its_owner_wrote_meanwhile_is_never_undone(owner: OwnerSettings) -> None:
    change(owner, {"language": "de"})
    by_hand = owner.text() + "mode: wake_word\n"
    owner.path.write_text(by_hand)
    assert not owner.can_undo()
    with pytest.raises(SettingsError):
        undo(owner)
    assert owner.text() == by_hand


def test_a_change_of_what_is_not_there_any_more_is_refused(owner: OwnerSettings) -> None:
    old = fingerprint(owner.text())
    change(owner, {"language": "de"})
    with pytest.raises(SettingsError, match="changed meanwhile"):
        owner.change(SettingsChange(ID, old, {"language": "fr"}))
    assert owner.settings().language == "de"


def test_of_two_changes_at_once_one_counts_and_the_other_is_told(owner: OwnerSettings) -> None:
    base, told, ready = fingerprint(TEXT), [], threading.Barrier(8)

    def one(number: int) -> None:
        ready.wait(10)
        try:
            owner.change(SettingsChange(ID, base, {"link.port": 2000 + number}))
            told.append("")
        except SettingsError as error:
            told.append(str(error))

    threads = [threading.Thread(target=one, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(map(bool, told)) == [False] + [True] * 7
    undo(owner)
    assert owner.text() == TEXT


def test_a_password_is_in_a_file_of_its_own_that_only_its_owner_reads(owner: OwnerSettings) -> None:
    change(owner, {}, "correct horse")
    assert owner.secret.read_text() == "correct horse\n"
    assert mode(owner.secret) == 0o600
    assert mode(owner.secret.parent) == 0o700
    for path in owner.path.parent.glob("settings*"):
        assert "horse" not in path.read_text()
    assert owner.settings().link.password_file == ""  # systemd hands it over


@pytest.mark.parametrize(
    "values",
    [{"link.broker": "10.0.0.9"}, {"link.port": 1884}, {"link.user": "alice"}, {"link.tls": True}],
    ids=lambda values: next(iter(values)),
)
def test_a_password_that_is_kept_goes_to_no_other_broker(
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


def test_a_password_in_a_file_of_the_owners_goes_to_no_other_broker_either(
    owner: OwnerSettings,
) -> None:
    owner.path.write_text(f"{TEXT}  password_file: /somewhere\n")
    with pytest.raises(SettingsError, match="Type the password, too"):
        change(owner, {"link.broker": "10.0.0.9"})


@pytest.mark.parametrize(("given", "refused"), [("first\n", True), ("\n", False)])
def test_who_may_not_read_the_password_knows_of_it_by_what_systemd_hands_over(
    owner: OwnerSettings, tmp_path: Path, given: str, refused: bool
) -> None:
    credential = tmp_path / "given"
    credential.write_text(given)  # an empty line where the owner keeps none
    page = OwnerSettings(owner.path, owner.secret, anything, given=credential)
    asked = SettingsChange(ID, fingerprint(page.text()), {"link.broker": "10.0.0.9"})
    if not refused:
        page.check_change(asked)
        return
    with pytest.raises(SettingsError, match="Type the password, too"):
        page.check_change(asked)


def test_without_a_user_no_password_is_sent_and_so_any_broker_can_be_named(
    owner: OwnerSettings,
) -> None:
    change(owner, {}, "first")
    change(owner, {"link.broker": "10.0.0.9", "link.user": ""})
    with pytest.raises(SettingsError, match="Type the password, too"):
        change(owner, {"link.user": "bob"})
    change(owner, {"link.name": "Attic"})
    change(owner, {"link.broker": "", "link.user": "bob"})


def test_where_no_systemd_hands_it_over_the_settings_name_the_file(owner: OwnerSettings) -> None:
    named = OwnerSettings(owner.path, owner.secret, anything, named=True)
    change(named, {}, "correct horse")
    assert named.settings().link.password_file == str(owner.secret)


def test_a_password_that_was_changed_with_the_settings_is_undone_with_them(
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


def test_the_first_password_goes_with_its_undo(owner: OwnerSettings) -> None:
    change(owner, {}, "first")
    assert owner.text() == TEXT
    assert owner.can_undo()
    undo(owner)
    assert not owner.secret.exists()


class Cut(Exception):
    """The power is gone."""


@contextmanager
def cut_at(
    step: int, monkeypatch: pytest.MonkeyPatch, *, unlinks: bool = False
) -> Iterator[list[str]]:
    """The power goes before the rename number `step`, counted from 0; `unlinks` count, too."""
    done: list[str] = []
    rename, unlink = Path.rename, Path.unlink

    def renamed(path: Path, target: Path) -> Path:
        if len(done) == step:
            raise Cut
        done.append(Path(target).name)
        return rename(path, target)

    def unlinked(path: Path, missing_ok: bool = False) -> None:
        if len(done) == step:
            raise Cut
        done.append(f"without {path.name}")
        unlink(path, missing_ok=missing_ok)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", renamed)
        if unlinks:
            patched.setattr(Path, "unlink", unlinked)
        yield done


@pytest.mark.parametrize("step", range(7))
def test_a_power_cut_at_any_moment_leaves_all_of_the_old_or_all_of_the_new(
    owner: OwnerSettings, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(owner, {"language": "fr"}, "first")
    before, cut = owner.text(), False
    with cut_at(step, monkeypatch) as done:
        try:
            change(owner, {"language": "de"}, "second")
        except Cut:
            cut = True
    assert cut == (step < 6), done
    made = "settings.yaml" in done
    assert owner.settings().language == ("de" if made else "fr")
    assert made or owner.text() == before
    assert owner.can_undo() == made
    change(owner, {"language": "es"}, "third")  # what was left lying is in nobody's way
    assert (owner.settings().language, owner.secret.read_text()) == ("es", "third\n")
    undo(owner)
    assert owner.settings().language == ("de" if made else "fr")
    assert owner.secret.read_text() == ("second\n" if made else "first\n")


@pytest.mark.parametrize("former", ["first", ""])
@pytest.mark.parametrize("values", [{"language": "de"}, {}])
def test_an_undo_that_a_power_cut_ended_is_finished_with_the_password_of_before(
    tmp_path: Path, values: dict[str, Scalar], former: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for step in itertools.count():
        folder = tmp_path / str(step)
        owner = OwnerSettings(folder / "settings.yaml", folder / "mqtt-password", anything)
        change(owner, {"language": "fr"}, former)
        before, cut = owner.text(), False
        change(owner, values, "second")
        with cut_at(step, monkeypatch, unlinks=True) as done:
            try:
                undo(owner)
            except Cut:
                cut = True
        with suppress(SettingsError):  # it was undone
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
def test_a_password_that_its_owner_wrote_meanwhile_is_never_undone(
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


def test_a_card_that_is_full_in_the_middle_leaves_the_password_of_before(
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


def test_a_folder_that_cannot_be_written_is_said_and_nothing_is_changed(
    owner: OwnerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(StorageError, match="No space left"):
            change(owner, {"language": "de"})
    assert owner.text() == TEXT


def test_what_lies_there_and_is_no_record_of_ours_is_no_undo(owner: OwnerSettings) -> None:
    change(owner, {"language": "de"})
    for damage in (b"", b"{", b"[" * 5000, b'{"before": 1}'):
        owner.path.with_name("settings-undo.json").write_bytes(damage)
        assert not owner.can_undo()
