"""Accepts fetched models: as root, which the user that fetches has to ask.

In: complete files in models/.fetch/NAME, which that user may exchange at any time, and its note
(placement.py). Out: the files in models/NAME, root's, once their sizes and checksums are those of
the catalogue; an encoder's audio part, made from its verified file; and the marker. A file is first
taken out of the other user's folder and made root's. Then the kernel grants a read lease on it,
which it refuses while any process can still write the file (fcntl(2), F_SETLEASE), and then it is
read once. After a power cut at any step the next run goes on.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from appliance.atomic_file import ONCE, sync_folder
from appliance.errors import InterludeError, ModelError
from appliance.models import codec_files, parts
from appliance.models.catalogue import CatalogueModel, Form, ModelFile
from appliance.models.disk_space import parts_first
from appliance.models.model_disk import sha256_of, storage_errors
from appliance.models.parts import MadePart, NoProgress
from appliance.models.placement import READY, ReadyNote
from appliance.models.store import ModelStore, PinnedRevision
from appliance.record_file import UNREADABLE, read_record

SEEN = ".accepted"  # in models/: what lay there before the first acceptance has been taken over
_OLD = ".old-"  # prefix of a model's folder while it is taken over
_MOST_NOTE_BYTES = 200
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def accept_all(store: ModelStore) -> Iterator[str]:
    """Accept what is ready, and remove what root's request names. Yields a line for the journal
    for each model. Raises StorageError, OSError."""
    if not store.hands_over:
        yield f"There is no {store.drop}: models are not handed over here."
        return
    with storage_errors(store.root):
        for model in store.models.values():
            if not model.shipped and (line := _take_over(store, model)):
                yield line
        (store.root / SEEN).touch()
        with _opened(store.drop) as drop, os.scandir(drop) as entries:
            for name in [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]:
                with contextlib.suppress(FileNotFoundError), _opened(name, drop) as folder:
                    yield from _serve(store, name, folder)


def _serve(store: ModelStore, name: str, folder: int) -> Iterator[str]:
    """Carry out the note in a folder, whoever wrote it, and remove it."""
    if not _exists(READY, folder):
        return
    try:
        note, model = _note_in(folder), store.models.get(name)
        if note is None or model is None or model.shipped:
            yield f"<4>{name!r}: its note is not one"  # a warning: sd-daemon(3)
        elif store.unwanted() == name:
            store.discard(model)
            yield f"{name}: removed"
        else:
            yield _accept(store, model, folder, note.form)
    except InterludeError as error:
        yield f"<4>{name}: {error}"
    finally:  # last: the user that fetches waits for it
        _remove(READY, folder)


def _accept(store: ModelStore, model: CatalogueModel, folder: int, form: Form | None) -> str:
    """Accept the model's files in `folder`, and compare those in place. Raises ModelError for one
    that is not the catalogue's, after its deletion, and StorageError."""
    place = store.folder(model)
    place.mkdir(mode=0o755, exist_ok=True)
    place.chmod(0o755)
    form = form or store.form(model)
    entries = {}
    for _, file in parts_first(model):
        digest = _take(store, model, file, folder)
        if file.part is not None:
            entry = _part(store, model, file, form or file.part, digest)
        else:
            entry = _file(store, model, file, digest)
        if entry is not None:
            entries[file.path] = entry
    if len(entries) < len(model.files):
        store.forget_whole(model)
        return f"{model.name}: {len(entries)} of {len(model.files)} files are accepted"
    store.mark(model, PinnedRevision(model.revision or "", entries))
    sync_folder(store.root)
    if model.kind == codec_files.KIND:
        codec_files.prepare(store, model.name)
    return f"{model.name}: accepted"


def _take(store: ModelStore, model: CatalogueModel, file: ModelFile, folder: int) -> str | None:
    """Take a complete file out of `folder` and verify it. Returns its SHA-256; None if it is not
    there. Raises ModelError for another file, after its deletion."""
    target, complete = store.unverified(model, file), store.folder(model) / file.name
    if file.part is not None and complete.exists():  # its part was not made before a power cut
        complete.replace(target)
    with contextlib.suppress(FileNotFoundError):
        os.rename(file.name, target, src_dir_fd=folder)
    if not os.path.lexists(target):
        return None
    try:
        digest = _verified(store, target, file)
    except ModelError:
        _remove(target)
        raise
    target.replace(complete)
    sync_folder(complete.parent)
    return digest


def _verified(store: ModelStore, path: Path, file: ModelFile | None = None) -> str:
    """Make a file root's, and read it once. `file`: its row; None: any content is accepted. Returns
    its SHA-256. Raises ModelError."""
    try:
        with os.fdopen(os.open(path, ONCE), "rb") as content:
            status = os.fstat(content.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ModelError(f"{path.stem} is not a regular file; it was deleted.")
            if file is not None and file.size not in (None, status.st_size):
                found = f"{status.st_size} bytes instead of {file.size}"
                raise ModelError(f"{path.stem} has {found}; it was deleted.")
            owner = store.root.stat()
            os.fchown(content.fileno(), owner.st_uid, owner.st_gid)
            os.fchmod(content.fileno(), 0o644)
            _require_no_writer(content.fileno(), path.stem)
            digest = hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:  # a link, a socket
        raise ModelError(f"{path.stem} cannot be read ({error.strerror}); deleted.") from error
    if file is not None and file.sha256 not in (None, digest):
        problem = f"{path.stem} has SHA-256 {digest} instead of {file.sha256}; it was deleted."
        raise ModelError(problem, "Fetch it again.")
    return digest


def _require_no_writer(fd: int, name: str) -> None:
    """Raise ModelError while any process has the file open or mapped for writing. Nobody but root
    can open it for writing afterwards."""
    try:
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError as error:
        raise ModelError(f"{name} is open for writing; it was deleted.") from error
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)


def _file(
    store: ModelStore, model: CatalogueModel, file: ModelFile, digest: str | None
) -> ModelFile | None:
    """The marker's entry of a file in place; None if it is missing. One that was not read in this
    run is read again. Raises ModelError for another content, after its deletion."""
    path = store.path(model, file)
    if not path.is_file():
        return None
    if digest is None:
        digest = sha256_of(path)
        if file.sha256 not in (None, digest):
            path.unlink()
            store.forget_whole(model)
            raise ModelError(f"{path} is damaged, and was deleted.", "Fetch it again.")
    return ModelFile(path=file.path, size=path.stat().st_size, sha256=digest)


def _part(
    store: ModelStore, model: CatalogueModel, file: ModelFile, form: Form, digest: str | None
) -> ModelFile | None:
    """The marker's entry of a file's audio part, which is made if it is not there; None if it
    cannot be made."""
    complete = store.folder(model) / file.name
    named = msgspec.structs.replace(file, sha256=file.sha256 or digest)
    made = parts.known(store, model, named, form)
    if made is None:
        finer = parts.finer(store, model, named, form)
        source = finer or (complete if digest is not None else None)
        if source is None:
            return None
        made = parts.make(store, model, named, form, source, NoProgress())
    complete.unlink(missing_ok=True)
    return made.entry(file)


def _take_over(store: ModelStore, model: CatalogueModel) -> str:
    """Take over a model that the user that fetches wrote into models/NAME itself, before there was
    an acceptance. Returns a line for the journal, or ""."""
    place, old = store.folder(model), store.root / f"{_OLD}{model.name}"
    if place.is_dir() and not store.is_own(place):
        if not (place / "whole.json").exists() and not store.dropped(model).exists():
            place.rename(store.dropped(model))  # a download that was interrupted goes on
            return f"{model.name}: its download goes on in {store.drop}"
        place.rename(old)
    if old.is_symlink():
        old.unlink()
    if not old.is_dir():
        return ""
    try:
        place.mkdir(mode=0o755, exist_ok=True)
        with _opened(old) as folder:
            taken = [_take_old_part(store, model, file, old, folder)
                     for file in model.files.values()]  # fmt: skip
            line = _accept(store, model, folder, next(filter(None, taken), None))
    except InterludeError as error:
        line = f"<4>{model.name}: {error}"
    shutil.rmtree(old)
    return line


def _take_old_part(
    store: ModelStore, model: CatalogueModel, file: ModelFile, old: Path, folder: int
) -> Form | None:
    """Take over an audio part as it is: its source, which could be verified, was deleted when the
    part was made. Returns its form."""
    if file.part is None:
        return None
    made = read_record(old / "audio-part.json", MadePart)
    path = store.path(model, file)
    if made is None:
        return None
    target = path.with_name(f"{file.kept}.unverified")
    if _exists(file.kept, folder):
        os.rename(file.kept, target, src_dir_fd=folder)
    if target.exists():
        _verified(store, target)
        target.replace(path)
    if path.is_file():
        parts.record(store, model, file, made.form, file.sha256 or "")
    return made.form


@contextlib.contextmanager
def _opened(path: str | Path, folder: int | None = None) -> Iterator[int]:
    """A descriptor of a folder, which may not be a link."""
    fd = os.open(path, _FOLDER, dir_fd=folder)
    try:
        yield fd
    finally:
        os.close(fd)


def _note_in(folder: int) -> ReadyNote | None:
    """The note in a folder; None for anything else. Never blocks."""
    try:
        with os.fdopen(os.open(READY, ONCE, dir_fd=folder), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            return msgspec.json.decode(file.read(_MOST_NOTE_BYTES), type=ReadyNote)
    except (OSError, *UNREADABLE):
        return None


def _exists(name: str, folder: int) -> bool:
    try:
        os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return False
    return True


def _remove(path: str | Path, folder: int | None = None) -> None:
    """Remove whatever has that name. Follows no link."""
    try:
        os.unlink(path, dir_fd=folder)
    except IsADirectoryError:
        shutil.rmtree(path, dir_fd=folder)
    except FileNotFoundError:
        return
