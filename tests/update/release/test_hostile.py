"""Reading an untrusted archive before its signature is checked costs little memory and never
blocks.

The archives are read by a process of its own, whose address space may grow by 64 MiB at most.
"""

from __future__ import annotations

import functools
import gzip
import json
import multiprocessing
import os
import random
import resource
import shutil
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from appliance.errors import InterludeError
from appliance.update import request
from appliance.update.archive_parts import MOST_MANIFEST_BYTES, open_parts, sign_archive
from appliance.update.handed_over_file import HandedOverFile
from appliance.update.release import archive as releases
from appliance.update.release.store import ReleaseStore
from appliance.update.system import archive as systems
from appliance.update.system.pack import pack
from tests.update.release.attacker import KINDS
from tests.update.release.workshop import Workshop

MORE_BYTES = 64 << 20
LIMIT_S = 30.0  # for one file on a busy machine; on an idle one it is enough for thousands
EXAMPLES = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

pytestmark = [pytest.mark.process, pytest.mark.timeout(120)]


# ── the reader ───────────────────────────────────────────────────────────────────────────────
def _read(verb: str, path: Path, signers: Path) -> str:
    """Return what the reader finds in a file or why it refuses it. Any other exception is a
    failure."""
    try:
        if verb == "offers":
            found = request.offers(
                ReleaseStore(path / "opt", path / "run"), path, path / "os-release"
            )
            return f"offers {[offer.version for offer in found]}"
        if verb == "look":
            manifest = releases.RELEASE.peek(path) or systems.SYSTEM_ARCHIVE.peek(path)
            return f"says {manifest.version}" if manifest else "says nothing"
        if verb == "open":
            with HandedOverFile(path, releases.RELEASE.most_bytes) as handed:
                releases.ReleaseArchive(handed, signers)
        else:
            with HandedOverFile(path, systems.SYSTEM_ARCHIVE.most_bytes) as handed:
                systems.SystemArchive(handed, signers).verify()
    except InterludeError as error:
        return f"refused: {error.problem}"
    return "signed"


def _serve(pipe: Connection, signers: Path) -> None:
    _read("offers", signers.parent, signers)  # import lazy modules before the limit
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MORE_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    pipe.send("ready")
    while True:
        verb, path = pipe.recv()
        try:
            pipe.send(_read(verb, path, signers))
        except BaseException as error:  # noqa: BLE001  # the test reports it
            pipe.send(f"FAILED {type(error).__name__}: {error}")


@dataclass
class Reader:
    """The process that reads, with the folder and the workshop of its files."""

    pipe: Connection
    folder: Path
    shop: Workshop

    def ask(self, verb: str, path: Path) -> str:
        self.pipe.send((verb, path))
        assert self.pipe.poll(LIMIT_S), f"{verb} hangs"
        reply: str = self.pipe.recv()
        assert not reply.startswith("FAILED"), reply
        return reply

    def refuses(self, data: bytes, size: int = 0) -> None:
        """Assert that every entry point refuses the data. `size`: the file is extended to it with a
        hole."""
        path = self.folder / "interlude-9.9.9.release"
        path.write_bytes(data)
        if size > len(data):
            os.truncate(path, size)
        assert self.ask("open", path).startswith("refused: ")
        assert self.ask("verify", path).startswith("refused: ")
        self.ask("look", path)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "shop").mkdir()
    shop = Workshop(folder / "shop")
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(theirs, shop.signers), daemon=True
    )
    process.start()
    assert ours.poll(90.0) and ours.recv() == "ready"  # noqa: PT018  # or the process died
    yield Reader(ours, folder, shop)
    process.kill()
    process.join()


# ── headers ──────────────────────────────────────────────────────────────────────────────────
def header(
    name: bytes, size: bytes, kind: bytes = b"0", magic: bytes = b"ustar\x0000", right: bool = True
) -> bytes:
    """A tar header block of 512 bytes with arbitrary fields."""
    block = bytearray(512)
    for begin, width, data in ((0, 100, name), (124, 12, size), (156, 1, kind), (257, 8, magic)):
        block[begin : begin + width] = data[:width].ljust(width, b"\0")
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % (sum(block) + (not right))
    return bytes(block)


SIZES = st.one_of(
    st.sampled_from([0, 1, 511, 512, 65_536, 65_537, 600 << 20, 8**11 - 1]).map(
        lambda size: b"%011o\0" % size
    ),
    st.sampled_from([b"\x80" + bytes(10) + b"\x01", b"\xff" * 12, b"-0000000001\0", b"9" * 11]),
    st.integers(0, 100_000).map(lambda size: b"%011o\0" % size),
    st.binary(min_size=12, max_size=12),
)
NAMES = st.sampled_from(
    [b"release.json", b"release.json.sig", b"tree.tar.gz", b"system.json", b"system.json.sig",
     b"././@LongLink", b"././@PaxHeader", b"GlobalHead.0", b"x" * 100, b"release.json/", b""]
)  # fmt: skip
KINDS_OF_MEMBER = st.sampled_from([bytes([kind]) for kind in b"\x000123567xgLKSVMDNA"])
MAGICS = st.sampled_from([b"ustar\x0000", b"ustar  \0", b"\0" * 8, b"ustar\x0099"])
CONTENT = st.one_of(
    st.binary(max_size=700),
    st.sampled_from([
        b"30 size=99999999999999999999\n", b"600000000 path=x\n",
        b"27 GNU.sparse.map=" + b"1," * 200,
        b"9999999999 ", b'{"version": "0.9.9"}', b"\x1f\x8b\x08" + bytes(40),
    ]),
)  # fmt: skip


@st.composite
def tars(draw: st.DrawFn) -> bytes:
    data = b""
    for _ in range(draw(st.integers(1, 5))):
        data += header(
            draw(NAMES), draw(SIZES), draw(KINDS_OF_MEMBER), draw(MAGICS), draw(st.booleans())
        )
        content = draw(CONTENT)
        data += content + bytes(-len(content) % 512) * draw(st.booleans())
    return data


@EXAMPLES
@given(data=tars(), hole=st.sampled_from([0, 0, 1 << 20, 600 << 20, 1 << 40]))
def test_tar_headers_of_any_kind_are_refused(reader: Reader, data: bytes, hole: int) -> None:
    reader.refuses(data, hole)


def test_a_header_that_claims_600_mb_of_a_hole_allocates_none_of_them(reader: Reader) -> None:
    for kind in (b"x", b"g", b"L", b"K", b"S", b"0"):
        for name in (b"././@PaxHeader", b"release.json", b"system.json"):
            reader.refuses(header(name, b"%011o\0" % (600 << 20), kind), 601 << 20)


def manifest_of(data: bytes, name: bytes = b"release.json") -> bytes:
    """An archive with this manifest."""
    parts = [(name, data), (name + b".sig", b"no signature"), (b"tree.tar.gz", b"no tree")]
    if name == b"system.json":
        parts[2:] = [(b"boot.gz", b"no boot"), (b"system.gz", b"no root")]
    return b"".join(
        header(called, b"%011o\0" % len(content)) + content + bytes(-len(content) % 512)
        for called, content in parts
    )


FIELDS = ("version", "machine", "python", "made_s", "tree_sha256", "tree_bytes", "boot", "system")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**40), 10**40) | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)


@EXAMPLES
@given(value=JSON, name=st.sampled_from([b"release.json", b"system.json"]), data=st.data())
def test_a_manifest_with_arbitrary_content_is_refused(
    reader: Reader, value: object, name: bytes, data: st.DataObject
) -> None:
    chosen = data.draw(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=4))
    for content in (json.dumps(value), json.dumps(chosen)):
        reader.refuses(manifest_of(content.encode()[:MOST_MANIFEST_BYTES], name))


@pytest.mark.parametrize(
    "content",
    [
        b"[" * MOST_MANIFEST_BYTES,
        b'{"version":' * (MOST_MANIFEST_BYTES // 11),
        b'{"version": ' + b"9" * 60_000 + b"}",
        b'{"made_s": ' + b"9" * 60_000 + b"}",
        b'{"made_s": 1e' + b"9" * 60_000 + b"}",
        b'{"version": "' + b"1." * 30_000 + b'"}',
        b'{"version": "\\ud800"}',
        b"\xff" * MOST_MANIFEST_BYTES,
        b"\0" * MOST_MANIFEST_BYTES,
    ],
)
def test_a_deeply_nested_or_endless_manifest_is_refused(reader: Reader, content: bytes) -> None:
    for name in (b"release.json", b"system.json"):
        reader.refuses(manifest_of(content, name))


# ── genuine archives, changed ────────────────────────────────────────────────────────────────
@pytest.fixture(scope="module")
def good(reader: Reader) -> Path:
    path = reader.shop.make("0.3.0", files=20)
    assert reader.ask("open", path) == "signed"
    assert reader.ask("look", path) == "says 0.3.0"
    return path


@EXAMPLES
@given(data=st.data())
def test_a_genuine_archive_changed_anywhere_before_its_tree_is_refused(
    reader: Reader, good: Path, data: st.DataObject
) -> None:
    """Unless the manifest and the signature still read the same."""
    whole = good.read_bytes()
    tree = whole.index(b"\x1f\x8b\x08")
    how = data.draw(st.sampled_from(["flip", "cut", "insert", "remove", "double", "follow"]))
    at = data.draw(st.integers(0, tree - 1))
    if how == "flip":
        bit = 1 << data.draw(st.integers(0, 7))
        changed = whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :]
    elif how == "cut":
        changed = whole[: data.draw(st.integers(0, tree + 500))]
    elif how == "insert":
        changed = whole[:at] + data.draw(st.binary(min_size=1, max_size=600)) + whole[at:]
    elif how == "remove":
        changed = whole[:at] + whole[at + data.draw(st.integers(1, 600)) :]
    elif how == "double":
        changed = whole + whole
    else:
        changed = whole + data.draw(st.binary(min_size=1, max_size=30_000)) + b"\x01"
    path = reader.folder / "changed.release"
    path.write_bytes(changed)
    reply = reader.ask("open", path)
    if reply == "signed":  # the change is in the tree, or in a field or padding that is not read
        assert trusted(path) == trusted(good)
    else:
        assert reply.startswith("refused: ")


def trusted(path: Path) -> tuple[bytes, bytes]:
    """The manifest and the signature, as they are read."""
    with HandedOverFile(path, releases.RELEASE.most_bytes) as handed:
        return open_parts(handed, "release", *releases.RELEASE.parts)[:2]


def system(reader: Reader, root: bytes, size: int = 0) -> Path:
    """A system whose manifest is signed, but whose packed root is replaced with these bytes,
    followed by a hole up to `size`."""
    folder = reader.folder / "systems"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "boot").write_bytes(b"boot" * 1024)
    (folder / "root").write_bytes(random.Random(1).randbytes(1 << 20))
    made = pack(folder / "boot", folder / "root", folder,
                version="0.3.0", machine="any", made_s=0)  # fmt: skip
    sign_archive(made, reader.shop.key)
    names = systems.SYSTEM_ARCHIVE.parts
    with HandedOverFile(made, systems.SYSTEM_ARCHIVE.most_bytes) as handed:
        manifest, signed, (boot, genuine) = open_parts(handed, "system", *names)
        contents = [manifest, signed, handed.read(*boot), root or handed.read(*genuine)]
    changed = folder / "changed.system"
    with changed.open("wb") as file:
        for name, data in zip(names, contents, strict=True):
            long = max(size, len(data)) if data is root else len(data)
            file.write(header(name.encode(), b"%011o\0" % long) + data)
            file.write(bytes(-len(data) % 512))
        if size:
            file.truncate(file.tell() + size - len(root))
    return changed


def packed(data: bytes, times: int = 1) -> bytes:
    """`data` in gzip's format, `times` in a row. It is packed once: nothing after a full flush
    refers to anything before it."""
    deflate = zlib.compressobj(9, wbits=-15)
    once = deflate.compress(data) + deflate.flush(zlib.Z_FULL_FLUSH)
    checksum = functools.reduce(lambda before, _: zlib.crc32(data, before), range(times), 0)
    tail = struct.pack("<II", checksum, times * len(data) % (1 << 32))
    return b"\x1f\x8b\x08" + bytes(6) + b"\xff" + once * times + deflate.flush() + tail


def test_what_is_packed_for_these_tests_is_gzip() -> None:
    assert gzip.decompress(packed(b"boot" * 99, 3)) == b"boot" * 297


def test_an_unchanged_system_is_read_within_the_same_memory_limit(reader: Reader) -> None:
    assert reader.ask("verify", system(reader, b"")) == "signed"


@pytest.mark.parametrize(
    ("what", "root", "size"),
    [
        ("a bomb: 1 GiB of zeros", lambda: packed(bytes(1 << 20), 1024), 0),
        ("a whole one, then 1 GiB of anything", lambda: packed(b"short"), 1 << 30),
        ("two in a row", lambda: packed(b"short") + packed(b"and more"), 0),
        ("an end that never comes", lambda: packed(bytes(1 << 20))[:-20], 0),
        ("no gzip", lambda: b"no gzip at all", 0),
        ("nothing but a hole", lambda: b"\0", 1 << 30),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_replaced_part_under_a_good_signature_costs_no_more_memory(
    reader: Reader, what: str, root: Callable[[], bytes], size: int
) -> None:
    """The manifest does not give the length of the packed parts."""
    reply = reader.ask("verify", system(reader, root(), size))
    assert reply.startswith("refused: "), what
    assert "damaged" in reply


# ── the folder ───────────────────────────────────────────────────────────────────────────────
def test_a_folder_full_of_hostile_files_is_listed_within_the_limit(
    reader: Reader, tmp_path: Path, good: Path
) -> None:
    """Any number of files of any kind, with arbitrary names. The genuine ones are found if they are
    among the first that are read."""
    (tmp_path / "os-release").write_text("IMAGE_ID=interlude\nIMAGE_VERSION=0.0.1\n")
    (tmp_path / "interlude-0.3.0.release").write_bytes(good.read_bytes())
    for number, (_, make) in enumerate(KINDS.items()):
        make(tmp_path / f"a{number}.release")
        make(tmp_path / f"a{number}.system")
    assert reader.ask("offers", tmp_path) == "offers ['0.3.0']"
    for number in range(3000):
        (tmp_path / f"b{number}.release").write_bytes(header(b"release.json", b"%011o\0" % 65_536))
    (tmp_path / "é\n.release").write_bytes(good.read_bytes())
    assert reader.ask("offers", tmp_path) in ("offers []", "offers ['0.3.0']")
    shutil.rmtree(tmp_path / "none", ignore_errors=True)
    assert reader.ask("offers", tmp_path / "none") == "offers []"


def test_a_limited_number_of_files_is_opened(tmp_path: Path, good: Path) -> None:
    for number in range(request.MOST_FILES + 10):
        (tmp_path / f"{number:03}.release").write_bytes(good.read_bytes())
    found = request.offers(
        ReleaseStore(tmp_path / "opt", tmp_path / "run"), tmp_path, tmp_path / "none"
    )
    assert len(found) == request.MOST_FILES
