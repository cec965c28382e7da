"""Root accepts what the catalogue describes, whatever the user that fetches puts in its place."""

from __future__ import annotations

import hashlib
import mmap
import os
import random
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from appliance.errors import ModelError
from appliance.models.background_download import copy, on_stick
from appliance.models.catalogue import ModelFile
from appliance.models.placement import READY
from appliance.models.store import ModelStore, PinnedRevision, resolve
from appliance.settings import load
from tests import skips
from tests.models.accepting import EVIL, STRANGER, TEXT, Box


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def test_genuine_files_are_taken_out_of_the_other_users_folder(box: Box) -> None:
    box.fetched()
    assert box.accept() == ["large: accepted"]
    assert (box.state, box.store.damage(box.model)) == ("installed", [])
    assert list(box.drop.iterdir()) == []
    assert {path.name for path in box.store.folder(box.model).iterdir()} == {
        "text.gguf", "audio-part.gguf", "audio-part.json", "whole.json",
    }  # fmt: skip
    assert box.text.stat().st_mode & 0o777 == 0o644
    assert box.accept() == []


def test_the_thinker_refuses_a_model_whose_marker_a_thief_wrote(tmp_path: Path) -> None:
    """Where nobody hands over: its marker says that the file is as it should be."""
    settings = load(None, {"state_dir": str(tmp_path), "thinking": {"model": "gemma-4-e2b"}})
    store = ModelStore.of(settings)
    model = store.models["gemma-4-e2b"]
    store.folder(model).mkdir(parents=True)
    listed = {}
    for file in model.files.values():
        store.path(model, file).write_bytes(EVIL)
        digest = hashlib.sha256(EVIL).hexdigest()
        listed[file.path] = ModelFile(path=file.path, size=len(EVIL), sha256=digest, part=file.part)
    store.mark(model, PinnedRevision("", listed))
    with pytest.raises(ModelError, match="was not verified by this box"):
        resolve(settings)
    assert store.state(model) == "partial"
    assert len(store.damage(model)) == 2
    truthful = {file.path: file for file in model.files.values()}
    store.mark(model, PinnedRevision("", truthful))  # with the catalogue's sizes and checksums
    with pytest.raises(ModelError, match="only partly here"):
        resolve(settings)


@pytest.mark.parametrize("text", [EVIL, EVIL[:-1], b"", TEXT + b"x"])
def test_another_content_is_refused_and_deleted(box: Box, text: bytes) -> None:
    box.fetched(text)
    marker = {"revision": "", "files": {"text.gguf": {"path": "text.gguf", "size": len(text)}}}
    (box.drop / "whole.json").write_bytes(msgspec.json.encode(marker))
    (line,) = box.accept()
    assert line.startswith("<4>large: text.gguf has ")
    assert box.state == "partial"
    assert not box.text.exists()
    assert not (box.drop / READY).exists()
    (box.drop / "text.gguf").write_bytes(TEXT)  # the next fetch: the part is here already
    box.ask()
    assert box.accept() == ["large: accepted"]


def fifo(path: Path) -> None:
    os.mkfifo(path)


def listener(path: Path) -> None:
    os.mknod(path, stat.S_IFSOCK | 0o600)


def folder(path: Path) -> None:
    path.mkdir()
    (path / "inside").write_text("x")


def link(path: Path) -> None:
    (path.parent / "elsewhere").write_bytes(TEXT)
    path.symlink_to("elsewhere")


@pytest.mark.parametrize("make", [fifo, listener, folder, link])
@pytest.mark.parametrize("name", ["text.gguf", READY])
def test_whatever_has_the_name_of_a_file_or_a_note_is_removed_and_not_followed(
    box: Box, make: Callable[[Path], None], name: str
) -> None:
    box.fetched()
    (box.drop / name).unlink()
    make(box.drop / name)
    (line,) = box.accept()
    assert line.startswith("<4>")
    assert (box.state, box.text.exists()) == ("partial", False)
    assert not os.path.lexists(box.drop / READY)
    assert not os.path.lexists(box.store.folder(box.model) / "text.gguf.unverified")


@pytest.mark.parametrize("note", [b"", b"{", b"[]", b'{"form": "f64"}', b'{"x": 1}', b"9" * 9999])
def test_a_note_with_any_other_content_is_removed(box: Box, note: bytes) -> None:
    box.fetched()
    box.ask(note)
    assert box.accept() == ["<4>'large': its note is not one"]
    assert box.state == "partial"
    assert not (box.drop / READY).exists()


def test_folders_of_no_model_lose_their_notes_and_nothing_else(box: Box, tmp_path: Path) -> None:
    other, outside = box.store.drop / "pocket", tmp_path / "outside"
    for place in (other, outside):
        place.mkdir()
        (place / READY).write_text("{}")
    (box.store.drop / "link").symlink_to(outside)
    (other / "text.gguf").write_bytes(TEXT)
    assert box.accept() == ["<4>'pocket': its note is not one"]
    assert [path.name for path in other.iterdir()] == ["text.gguf"]
    assert (outside / READY).exists()


@pytest.mark.parametrize("how", ["open", "mapped"])
def test_a_file_that_a_process_can_still_write_is_refused(box: Box, how: str) -> None:
    box.fetched()
    with (box.drop / "text.gguf").open("r+b") as held:
        mapped = mmap.mmap(held.fileno(), 0) if how == "mapped" else None
        if mapped is not None:
            held.close()
        (line,) = box.accept()
        if mapped is not None:
            mapped.close()
    assert "text.gguf is open for writing" in line
    assert not box.text.exists()


def become_a_stranger() -> None:
    os.setgroups([])
    os.setresgid(STRANGER, STRANGER, STRANGER)
    os.setresuid(STRANGER, STRANGER, STRANGER)
    os.umask(0o027)


def tries_of_a_stranger(attempts: list[Callable[[], object]]) -> list[bool]:
    """Which of these another user could do."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        become_a_stranger()
        for attempt in attempts:
            done = b"y"
            try:
                attempt()
            except OSError:
                done = b"n"
            os.write(writes, done)
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writes)
    with os.fdopen(reads, "rb") as answers:
        return [answer == ord("y") for answer in answers.read()]


@pytest.fixture
def shared() -> Iterator[Box]:
    """A box whose folders, unlike pytest's own, are open to other users."""
    if os.geteuid() != 0:
        pytest.skip(skips.ROOT_RIGHTS)
    with tempfile.TemporaryDirectory() as root:
        Path(root).chmod(0o755)
        yield Box(Path(root))


@pytest.mark.process
def test_a_user_without_rights_brings_a_model_that_root_accepts(shared: Box) -> None:
    box, stick = shared, shared.store.root.parent / "stick"
    stick.mkdir()
    (stick / "text.gguf").write_bytes(TEXT)
    (stick / "mmproj.gguf").write_bytes(box.whole)
    for path in (box.store.drop, box.drop):
        os.chown(path, STRANGER, STRANGER)
        path.chmod(0o2750)
    child = os.fork()
    if child == 0:
        become_a_stranger()
        copy(on_stick(stick, box.model)[0], box.store, box.model)
        os._exit(0 if box.state == "installed" else 1)
    accepted: list[str] = []
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        accepted += box.accept()
        time.sleep(0.05)
    assert os.waitstatus_to_exitcode(ended[1]) == 0
    assert accepted == ["large: 1 of 2 files are accepted", "large: accepted"]
    assert {path.stat().st_uid for path in box.store.folder(box.model).iterdir()} == {0}


@pytest.mark.process
def test_the_user_that_fetches_cannot_change_what_was_accepted(shared: Box) -> None:
    box = shared
    box.fetched()
    for path in (box.store.drop, box.drop, *box.drop.iterdir()):
        os.chown(path, STRANGER, STRANGER)
    held = os.open(box.drop / "text.gguf", os.O_RDONLY)
    assert box.accept() == ["large: accepted"]
    place = box.store.folder(box.model)
    assert tries_of_a_stranger([
        lambda: (box.drop / "own").write_bytes(b"x"),  # nothing else fails for another reason
        lambda: os.open(box.text, os.O_RDWR),
        lambda: os.open(f"/proc/self/fd/{held}", os.O_RDWR),
        box.text.unlink, lambda: box.text.chmod(0o666), (place / "new").touch,
        lambda: place.rename(box.drop / "mine"), (box.store.root / "head-large").mkdir,
        lambda: box.drop.rename(box.store.root / "other"),
    ]) == [True, *[False] * 8]  # fmt: skip
    os.close(held)
    assert (box.state, box.store.damage(box.model)) == ("installed", [])


@pytest.mark.long
def test_files_that_are_exchanged_while_they_are_read_are_never_accepted(box: Box) -> None:
    """Another process writes, links and renames in its folder as fast as it can."""
    over, dice = threading.Event(), random.Random(7)

    def exchange() -> None:
        while not over.is_set():
            name = box.drop / "text.gguf"
            other = box.drop / f"other-{dice.randrange(3)}"
            try:
                other.write_bytes(dice.choice((TEXT, EVIL)))
                if dice.random() < 0.5:
                    other.replace(name)
                else:
                    name.write_bytes(dice.choice((TEXT, EVIL)))
                box.ask()
            except OSError:  # root has just taken it away
                continue

    box.fetched()
    attacker = threading.Thread(target=exchange)
    attacker.start()
    try:
        rounds = [box.accept() for _ in range(200)]
        for _ in range(200):
            assert not box.text.exists() or box.text.read_bytes() == TEXT
            rounds.append(box.accept())
    finally:
        over.set()
        attacker.join()
    lines = [line for lines in rounds for line in lines]
    assert any(line.startswith("<4>") for line in lines)
    box.fetched()
    assert box.accept() == ["large: accepted"]
    assert box.store.damage(box.model) == []
