"""Changes the owner's settings file: each change is checked as at a start, and applied atomically.

In: changes (settings_change.py). Out: the file, with everything preserved that a change does not
name, the file's former text for one undo, and the broker's password in a file of its own. On a box
this runs as root, in a folder of root (provision/requested_changes.py); in a clone as its user.
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
SECRET_UNDO = "mqtt-password-undo"  # noqa: S105  # file with the former password
SECRET_NEW = "mqtt-password-new"  # noqa: S105  # file with a new one, before the rename
LOOK_AGAIN = "Look at it again, then change it."


class UndoRecord(msgspec.Struct, frozen=True):
    """What is needed to undo the last change. `before`: the former text; `after`: fingerprint of
    the new one.

    `secret`: the change included a password; `former`: there was one before, which is in
    SECRET_UNDO; `written`: id of the new one's file (_file_id). `under_way`: the change or its undo
    is not complete: if the file has the text `before`, the former password has to be restored.
    """

    before: str
    after: str
    secret: bool = False
    former: bool = False
    written: str = ""
    under_way: bool = False


@dataclass(frozen=True)
class OwnerSettings:
    """The settings file and the broker's password file, with the rules for a change of them.

    path    the file, which need not exist
    secret  the file of the broker's password
    check   raises SettingsError for settings that this box cannot use
    named   the settings must name the file `secret`, since systemd does not pass it as a credential
    given   the credential file that systemd passed at the start, for a process that may not read
            `secret`
    """

    path: Path
    secret: Path
    check: Callable[[Settings], object]
    named: bool = False
    given: Path | None = None

    def text(self) -> str:
        """The text of the file; "" if there is none. Raises SettingsError."""
        try:
            return read_small(self.path, MOST_BYTES, links=True).decode("utf-8")
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError) as error:
            shown = ShownAs.of("page-wrong-unreadable", file=str(self.path))
            problem = f"{self.path}: cannot be read."
            raise SettingsError(problem, "Correct it by hand.", shown=shown) from error

    def settings(self) -> Settings:
        """The settings by the file's present text. Raises SettingsError."""
        return load_text(self.text(), str(self.path))

    def can_undo(self) -> bool:
        """Whether file and password are as the last change left them, and it changed something."""
        record, text = self._undo_record(), self.text()
        if record is None or not self._is_unchanged(record, text):
            return False
        return record.secret or text != record.before

    def change(self, change: SettingsChange) -> None:
        """Apply a change. Raises SettingsError if it is refused, with nothing changed, and
        StorageError."""
        with self._locked():
            text = self.text()
            self._recover(text)
            if fingerprint(text) != change.base:
                problem = "The settings were changed meanwhile."
                raise SettingsError(problem, LOOK_AGAIN, shown=ShownAs.of("page-set-meanwhile"))
            try:
                if change.undo:
                    self._undo(text)
                else:
                    self._apply(text, change)
            except StorageError:  # a full SD card, for example: roll a partial change back now
                with contextlib.suppress(SettingsError, StorageError):
                    self._recover(self.text())
                raise

    def check_change(self, change: SettingsChange) -> None:
        """Check a change before it is sent to root. Raises SettingsError if it would be refused."""
        if not change.undo:
            self._checked(self.text(), change)

    def _apply(self, text: str, change: SettingsChange) -> None:
        new_text = self._changed_text(text, change)
        record = UndoRecord(text, fingerprint(new_text))
        with _as_storage_error(self.path.parent):
            if change.secret:
                record = self._stage_secret(change.secret, record)
            self._write_record(record)
            if change.secret:
                self._new_secret.rename(self.secret)
                sync_folder(self.secret.parent)
            write_whole(self.path, new_text.encode(), self._file_mode())
            if change.secret:
                self._write_record(msgspec.structs.replace(record, under_way=False))
            else:
                self._undo_secret.unlink(missing_ok=True)

    def _stage_secret(self, secret: str, record: UndoRecord) -> UndoRecord:
        """Save the former password, and write the new one beside it. Returns the record of both."""
        # SECRET_UNDO is about to be replaced: the previous change can no longer be undone.
        self.path.with_name(UNDO).unlink(missing_ok=True)
        sync_folder(self.path.parent)
        self.secret.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        former = _read_if_present(self.secret)
        if former is None:
            self._undo_secret.unlink(missing_ok=True)
        else:
            write_whole(self._undo_secret, former, 0o600)
        write_whole(self._new_secret, f"{secret}\n".encode(), 0o600)
        return msgspec.structs.replace(
            record,
            secret=True,
            former=former is not None,
            written=_file_id(self._new_secret),
            under_way=True,
        )

    def _checked(self, text: str, change: SettingsChange) -> tuple[dict[str, Scalar], Settings]:
        """The values that differ from the present ones, and the settings with them."""
        now = load_text(text, str(self.path))
        check_allowed(change, now)
        values: dict[str, Scalar] = dict(change.values)
        if change.secret:  # on a box systemd passes it, so that the settings name no file
            values["link.password_file"] = str(self.secret) if self.named else ""
        differ = {key: value for key, value in values.items() if value_of(now, key) != value}
        wanted = load_text(text, str(self.path), _tree(differ))
        if BROKER & differ.keys() and not change.secret:
            self._check_password_stays(now.link, wanted.link)
        self.check(wanted)
        return differ, wanted

    def _check_password_stays(self, now: LinkSettings, wanted: LinkSettings) -> None:
        """Raise SettingsError if the stored password would be sent to another broker, for another
        user, or over another connection than it was entered for."""
        sends_password = bool(wanted.broker and wanted.user)  # without a user no password is sent
        if sends_password and (now.password_file or self._has_secret()):
            problem = "The saved password is only for the broker and user it was typed for."
            shown = ShownAs.of("page-wrong-broker-password")
            raise SettingsError(problem, "Type the password, too.", shown=shown)

    def _has_secret(self) -> bool:
        """Whether a password is stored, as far as this process may read it. Root, which checks a
        requested change again, can."""
        for path in filter(None, (self.secret, self.given)):
            with contextlib.suppress(OSError):
                if read_small(path, MOST_BYTES, links=True).strip():  # an empty line: no password
                    return True
        return False

    def _changed_text(self, text: str, change: SettingsChange) -> str:
        # Imported here: a process that only checks changes, as a box's page, is spared its 6 MiB.
        from appliance.settings.owner_text import with_values

        where = str(self.path)
        differ, wanted = self._checked(text, change)
        new_text = with_values(text, differ, where) if differ else text
        if len(new_text.encode()) > MOST_BYTES:
            shown = ShownAs.of("page-wrong-file-large", file=where)
            problem = f"{where}: would be too large."
            raise SettingsError(problem, "Remove comments from it.", shown=shown)
        if load_text(new_text, where) != wanted:
            problem = f"{where}: cannot be changed from here without changing more of it."
            shown = ShownAs.of("page-wrong-by-hand", file=where)
            raise SettingsError(problem, "Change it in an editor.", shown=shown)
        return new_text

    def _undo(self, text: str) -> None:
        record = self._undo_record()
        if record is None or not self._is_unchanged(record, text):
            shown = ShownAs.of("page-wrong-no-undo")
            raise SettingsError("There is no change to undo.", shown=shown)
        self.check(load_text(record.before, str(self.path)))
        with _as_storage_error(self.path.parent):
            if record.secret:
                self._write_record(msgspec.structs.replace(record, under_way=True))
            write_whole(self.path, record.before.encode(), self._file_mode())
            self._restore_secret(record)

    def _restore_secret(self, record: UndoRecord) -> None:
        """Restore the former password. Its source is deleted last: after a power cut at any point
        _recover repeats the restore."""
        if record.secret and record.former:
            write_whole(self.secret, read_small(self._undo_secret, MOST_BYTES), 0o600)
        elif record.secret:
            self.secret.unlink(missing_ok=True)
            sync_folder(self.secret.parent)
        self.path.with_name(UNDO).unlink(missing_ok=True)
        sync_folder(self.path.parent)
        self._undo_secret.unlink(missing_ok=True)

    def _recover(self, text: str) -> None:
        """After a power cut: remove a password whose settings were not written, or were undone."""
        with _as_storage_error(self.secret.parent):
            self._new_secret.unlink(missing_ok=True)
            record = self._undo_record()
            if (
                record is not None
                and record.under_way
                and text == record.before
                and self._secret_is_unchanged(record)
            ):
                self._restore_secret(record)

    def _is_unchanged(self, record: UndoRecord, text: str) -> bool:
        """Whether file and password are unchanged since the change of `record`."""
        return fingerprint(text) == record.after and self._secret_is_unchanged(record)

    def _secret_is_unchanged(self, record: UndoRecord) -> bool:
        """Whether the password is unchanged since then. True where this process may not read it:
        root, which carries out the undo, checks again."""
        if not record.secret:
            return True
        try:
            same = _file_id(self.secret) == record.written
            return same and (not record.former or self._undo_secret.exists())
        except PermissionError:
            return True
        except OSError:
            return False

    @property
    def _undo_secret(self) -> Path:
        return self.secret.with_name(SECRET_UNDO)

    @property
    def _new_secret(self) -> Path:
        return self.secret.with_name(SECRET_NEW)

    def _write_record(self, record: UndoRecord) -> None:
        write_whole(self.path.with_name(UNDO), msgspec.json.encode(record), self._file_mode())

    def _undo_record(self) -> UndoRecord | None:
        # JSON may need six bytes for one character (\u0000).
        return load_record(self.path.with_name(UNDO), UndoRecord, 6 * MOST_BYTES + 1000)[0]

    def _file_mode(self) -> int:
        """The file's present mode: an owner may have removed the read permission of others."""
        try:
            return self.path.stat().st_mode & 0o666
        except OSError:
            return 0o644

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold a lock on the folder, so that one process at a time changes the settings."""
        with _as_storage_error(self.path.parent):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)


def fingerprint(text: str) -> str:
    """Identifies a text of the file: the first 64 bits of its SHA-256, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _file_id(path: Path) -> str:
    """Inode and mtime of a file: they change at each write, and reveal nothing of the content.
    Raises OSError."""
    status = path.stat()
    return f"{status.st_ino}:{status.st_mtime_ns}"


def _read_if_present(path: Path) -> bytes | None:
    with contextlib.suppress(FileNotFoundError):
        return read_small(path, MOST_BYTES)
    return None


def _tree(values: dict[str, Scalar]) -> dict[str, object]:
    """A nested mapping from dotted keys."""
    tree: dict[str, object] = {}
    for key, value in values.items():
        *sections, name = key.split(".")
        node = tree
        for section in sections:
            node = node.setdefault(section, {})  # type: ignore[assignment]  # sections are made here only
        node[name] = value
    return tree


@contextmanager
def _as_storage_error(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        problem = f"{folder}: cannot be written ({error.strerror})."
        shown = ShownAs.of("page-wrong-look-write", why=error.strerror or "")
        raise StorageError(problem, "Is there room on the card?", shown=shown) from error
