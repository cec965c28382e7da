"""The owner's settings file, changed by a program: checked as at a start, whole or not at all.

In: changes (settings_change.py). Out: the file, with everything in it that was not to be changed,
the file as it was before for one undo, and the broker's password in a file of its own. On a box
this runs as root, in a folder of root's (provision/requested_changes.py); in a clone as its user.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from appliance.atomic_file import read_small, sync_folder, write_whole
from appliance.errors import SettingsError, ShownAs, StorageError
from appliance.record_file import load_record
from appliance.settings.loading import MOST_BYTES, load_text
from appliance.settings.section import Scalar
from appliance.settings.settings_change import BROKER, SettingsChange, check_allowed, value_of
from appliance.settings.surroundings import LinkSettings
from appliance.settings.whole import Settings

UNDO = "settings-undo.json"  # beside the settings file
SECRET_UNDO = "mqtt-password-undo"  # noqa: S105  # a file's name, beside the password
SECRET_NEW = "mqtt-password-new"  # noqa: S105  # likewise: one that takes its place in a moment
AGAIN = "Look at it again, then change it."


class UndoRecord(msgspec.Struct, frozen=True):
    """What the last change took away. `after`: of the text that it made.

    `secret`: with it a password was changed; `former`: there was one before, which lies in
    SECRET_UNDO; `written`: the file of the new one (_file_id). `under_way`: the change, or its
    undo, is being made: if the settings are those of before, so has the password to be.
    """

    before: str
    after: str
    secret: bool = False
    former: bool = False
    written: str = ""
    under_way: bool = False


@dataclass(frozen=True)
class OwnerSettings:
    """`path`: the file, which need not be there. `secret`: where the broker's password lies;
    `named`: the settings have to say so (systemd does not hand it over here). `check`: raises
    SettingsError for settings that this box cannot use. `given`: the password as systemd has handed
    it over at the start, for who may not read `secret`."""

    path: Path
    secret: Path
    check: Callable[[Settings], object]
    named: bool = False
    given: Path | None = None

    def text(self) -> str:
        """Raises SettingsError."""
        try:
            return read_small(self.path, MOST_BYTES, links=True).decode("utf-8")
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError) as error:
            shown = ShownAs.of("page-wrong-unreadable", file=str(self.path))
            problem = f"{self.path}: cannot be read."
            raise SettingsError(problem, "Mend it by hand.", shown=shown) from error

    def settings(self) -> Settings:
        """As the file says now. Raises SettingsError."""
        return load_text(self.text(), str(self.path))

    def can_undo(self) -> bool:
        """File and password are as the last change has left them, and it changed something."""
        found, text = self._undo_record(), self.text()
        if found is None or not self._stands(found, text):
            return False
        return found.secret or text != found.before

    def change(self, change: SettingsChange) -> None:
        """Carry a change out. Raises SettingsError with nothing changed, StorageError."""
        with self._alone():
            text = self.text()
            self._recover(text)
            if fingerprint(text) != change.base:
                problem = "The settings were changed meanwhile."
                raise SettingsError(problem, AGAIN, shown=ShownAs.of("page-set-meanwhile"))
            try:
                if change.undo:
                    self._undo(text)
                else:
                    self._apply(text, change)
            except StorageError:  # of a full card: what is half made goes back now
                with contextlib.suppress(SettingsError, StorageError):
                    self._recover(self.text())
                raise

    def check_change(self, change: SettingsChange) -> None:
        """As whoever hands a change over. Raises SettingsError where it could not be used."""
        if not change.undo:
            self._wanted(self.text(), change)

    def _apply(self, text: str, change: SettingsChange) -> None:
        made = self._changed(text, change)
        record = UndoRecord(text, fingerprint(made))
        with _in_words(self.path.parent):
            if change.secret:
                record = self._stage_secret(change.secret, record)
            self._write_record(record)
            if change.secret:
                self._new.rename(self.secret)
                sync_folder(self.secret.parent)
            write_whole(self.path, made.encode(), self._mode())
            if change.secret:
                self._write_record(msgspec.structs.replace(record, under_way=False))
            else:
                self._kept.unlink(missing_ok=True)

    def _stage_secret(self, secret: str, record: UndoRecord) -> UndoRecord:
        """Keep the former password, and write the new one beside it. Returns the record of both."""
        # What is kept is about to be another one than the record of the change before means.
        self.path.with_name(UNDO).unlink(missing_ok=True)
        sync_folder(self.path.parent)
        self.secret.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        former = _bytes(self.secret)
        if former is None:
            self._kept.unlink(missing_ok=True)
        else:
            write_whole(self._kept, former, 0o600)
        write_whole(self._new, f"{secret}\n".encode(), 0o600)
        return msgspec.structs.replace(
            record,
            secret=True,
            former=former is not None,
            written=_file_id(self._new),
            under_way=True,
        )

    def _wanted(self, text: str, change: SettingsChange) -> tuple[dict[str, Scalar], Settings]:
        """The values that differ, and the settings with them."""
        now = load_text(text, str(self.path))
        check_allowed(change, now)
        values: dict[str, Scalar] = dict(change.values)
        if change.secret:  # on a box systemd hands it over
            values["link.password_file"] = str(self.secret) if self.named else ""
        differ = {key: value for key, value in values.items() if value_of(now, key) != value}
        wanted = load_text(text, str(self.path), _tree(differ))
        if BROKER & differ.keys() and not change.secret:
            self._check_password_stays(now.link, wanted.link)
        self.check(wanted)
        return differ, wanted

    def _check_password_stays(self, now: LinkSettings, wanted: LinkSettings) -> None:
        """Raises SettingsError where the password that is kept would go to another broker, as
        another user, or over another connection than it was written for."""
        sent = bool(wanted.broker and wanted.user)  # without a user none is
        if sent and (now.password_file or self._has_secret()):
            problem = "The password that is kept is only for the broker and user it was typed for."
            shown = ShownAs.of("page-wrong-broker-password")
            raise SettingsError(problem, "Type the password, too.", shown=shown)

    def _has_secret(self) -> bool:
        """As far as may be seen: root, who checks a change that is handed over, sees it."""
        for path in filter(None, (self.secret, self.given)):
            with contextlib.suppress(OSError):
                if read_small(path, MOST_BYTES, links=True).strip():  # a line without one is none
                    return True
        return False

    def _changed(self, text: str, change: SettingsChange) -> str:
        # Here: who only checks a change, as the page of a box, has no use for the 6 MiB of it.
        from appliance.settings.owner_text import with_values

        where = str(self.path)
        differ, wanted = self._wanted(text, change)
        made = with_values(text, differ, where) if differ else text
        if len(made.encode()) > MOST_BYTES:
            shown = ShownAs.of("page-wrong-file-large", file=where)
            problem = f"{where}: would be too large."
            raise SettingsError(problem, "Take comments out of it.", shown=shown)
        if load_text(made, where) != wanted:
            problem = f"{where}: cannot be changed from here without changing more of it."
            shown = ShownAs.of("page-wrong-by-hand", file=where)
            raise SettingsError(problem, "Change it in an editor.", shown=shown)
        return made

    def _undo(self, text: str) -> None:
        found = self._undo_record()
        if found is None or not self._stands(found, text):
            shown = ShownAs.of("page-wrong-no-undo")
            raise SettingsError("There is no change to be undone.", shown=shown)
        self.check(load_text(found.before, str(self.path)))
        with _in_words(self.path.parent):
            if found.secret:
                self._write_record(msgspec.structs.replace(found, under_way=True))
            write_whole(self.path, found.before.encode(), self._mode())
            self._take_back(found)

    def _take_back(self, found: UndoRecord) -> None:
        """The password of before. What it is taken from goes last: after a power cut anywhere this
        is done again (_recover)."""
        if found.secret and found.former:
            write_whole(self.secret, read_small(self._kept, MOST_BYTES), 0o600)
        elif found.secret:
            self.secret.unlink(missing_ok=True)
            sync_folder(self.secret.parent)
        self.path.with_name(UNDO).unlink(missing_ok=True)
        sync_folder(self.path.parent)
        self._kept.unlink(missing_ok=True)

    def _recover(self, text: str) -> None:
        """After a power cut: a password whose settings were not written, or were undone, goes."""
        with _in_words(self.secret.parent):
            self._new.unlink(missing_ok=True)
            found = self._undo_record()
            if (
                found is not None
                and found.under_way
                and text == found.before
                and self._secret_stands(found)
            ):
                self._take_back(found)

    def _stands(self, found: UndoRecord, text: str) -> bool:
        """Nobody has changed anything since."""
        return fingerprint(text) == found.after and self._secret_stands(found)

    def _secret_stands(self, found: UndoRecord) -> bool:
        """Likewise of the password. True for who may not look: root, who undoes it, may."""
        if not found.secret:
            return True
        try:
            same = _file_id(self.secret) == found.written
            return same and (not found.former or self._kept.exists())
        except PermissionError:
            return True
        except OSError:
            return False

    @property
    def _kept(self) -> Path:
        return self.secret.with_name(SECRET_UNDO)

    @property
    def _new(self) -> Path:
        return self.secret.with_name(SECRET_NEW)

    def _write_record(self, record: UndoRecord) -> None:
        write_whole(self.path.with_name(UNDO), msgspec.json.encode(record), self._mode())

    def _undo_record(self) -> UndoRecord | None:
        # JSON may take six letters for one.
        return load_record(self.path.with_name(UNDO), UndoRecord, 6 * MOST_BYTES + 1000)[0]

    def _mode(self) -> int:
        """As the file has it: an owner may have closed it to others."""
        try:
            return self.path.stat().st_mode & 0o666
        except OSError:
            return 0o644

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody else changes it this way meanwhile."""
        with _in_words(self.path.parent):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)


def fingerprint(text: str) -> str:
    """Of a text of the file: two of them differ wherever their texts do."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _file_id(path: Path) -> str:
    """Of a file as it was written: another one once somebody has written it again, and nothing of
    what is in it. Raises OSError."""
    about = path.stat()
    return f"{about.st_ino}:{about.st_mtime_ns}"


def _bytes(path: Path) -> bytes | None:
    with contextlib.suppress(FileNotFoundError):
        return read_small(path, MOST_BYTES)
    return None


def _tree(values: dict[str, Scalar]) -> dict[str, object]:
    """Dotted keys as nested ones."""
    made: dict[str, object] = {}
    for key, value in values.items():
        *above, name = key.split(".")
        at = made
        for section in above:
            at = at.setdefault(section, {})  # type: ignore[assignment]  # sections are made here only
        at[name] = value
    return made


@contextmanager
def _in_words(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        problem = f"{folder}: cannot be written ({error.strerror})."
        shown = ShownAs.of("page-wrong-look-write", why=error.strerror or "")
        raise StorageError(problem, "Is there room on the card?", shown=shown) from error
