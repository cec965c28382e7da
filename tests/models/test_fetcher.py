"""Fetching from a hub that drops connections, sends wrong bytes and refuses requests, and onto a
full disk."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance.errors import FetchError, StorageError
from appliance.models.catalogue import CatalogueModel, ModelFile
from appliance.models.fetcher import ATTEMPTS, ModelFetcher
from appliance.models.hub import ModelHub
from appliance.models.store import ModelStore
from appliance.runtime.free_space import SPARE_BYTES
from tests.models.hub_server import COMMIT, REPOSITORY, HubServer

random.seed(1)
BIG = random.randbytes(3_000_000)
SMALL = b'{"a": "config"}'


def pinned(path: str, content: bytes) -> ModelFile:
    return ModelFile(path=path, size=len(content), sha256=hashlib.sha256(content).hexdigest())


def model_of(*files: ModelFile, revision: str | None = COMMIT) -> CatalogueModel:
    return CatalogueModel(
        name="some",
        kind="voice",
        about="A model.",
        repository=REPOSITORY,
        revision=revision,
        licence="MIT",
        licence_url="https://example.org",
        files={f"file{i}": file for i, file in enumerate(files)},
    )


SOME = model_of(pinned("deep/big.bin", BIG), pinned("config.json", SMALL))
OPEN = model_of(ModelFile(path="deep/big.bin"), ModelFile(path="config.json"), revision=None)


class Watcher:
    """Records the progress reports."""

    def __init__(self) -> None:
        self.started: list[tuple[str, int, int]] = []
        self.problems: list[str] = []
        self.waits_s: list[float] = []
        self.done = 0

    def start(self, name: str, done: int, total: int) -> None:
        self.started.append((name, done, total))

    def advance(self, name: str, done: int) -> None:
        self.done = done

    def report_problem(self, name: str, problem: str, wait_s: float) -> None:
        self.problems.append(problem)


@pytest.fixture
def hub() -> Iterator[HubServer]:
    with HubServer({"deep/big.bin": BIG, "config.json": SMALL}) as server:
        yield server


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "models", {SOME.name: SOME})


def fetcher(
    store: ModelStore,
    hub: HubServer,
    watcher: Watcher | None = None,
    free_bytes: Callable[[Path], int] = lambda _: 10**12,
) -> ModelFetcher:
    watcher = watcher or Watcher()
    return ModelFetcher(store, ModelHub(hub.endpoint), watcher, free_bytes, watcher.waits_s.append)


def test_ok_files_arrive_complete_and_the_model_is_installed(
    store: ModelStore, hub: HubServer
) -> None:
    assert store.state(SOME) == "missing"
    fetcher(store, hub).fetch(SOME)
    assert (store.folder(SOME) / "big.bin").read_bytes() == BIG
    assert (store.folder(SOME) / "config.json").read_bytes() == SMALL
    assert store.state(SOME) == "installed"
    assert store.damage(SOME) == []
    assert not list(store.root.rglob("*.partial"))


def test_ok_a_dropped_connection_is_resumed_at_its_offset(
    store: ModelStore, hub: HubServer
) -> None:
    hub.cuts = [1_000_000, 500_000]
    watcher = Watcher()
    fetcher(store, hub, watcher).fetch(SOME)
    assert hub.gets[:3] == [None, "bytes=1000000-", "bytes=1500000-"]
    assert (store.folder(SOME) / "big.bin").read_bytes() == BIG
    assert len(watcher.problems) == 2


def test_ok_a_fetch_that_gave_up_is_resumed_by_the_next_one(
    store: ModelStore, hub: HubServer
) -> None:
    hub.cuts = [1_000_000] + [0] * ATTEMPTS
    with pytest.raises(FetchError, match=r"cannot be reached.*kept"):
        fetcher(store, hub).fetch(SOME)
    assert store.state(SOME) == "partial"
    hub.requests.clear()
    hub.cuts.clear()
    watcher = Watcher()
    fetcher(store, hub, watcher).fetch(SOME)
    assert hub.gets[0] == "bytes=1000000-"
    assert watcher.started[0] == ("big.bin", 1_000_000, len(BIG))
    assert store.damage(SOME) == []


@pytest.mark.parametrize("ranges", [False, "refuse"])
def test_ok_a_server_without_ranges_sends_the_file_again(
    store: ModelStore, hub: HubServer, ranges: bool | str
) -> None:
    hub.ranges = ranges
    hub.cuts = [1_000_000]
    fetcher(store, hub).fetch(SOME)
    assert (store.folder(SOME) / "big.bin").read_bytes() == BIG


def test_ok_a_failing_server_is_asked_again_with_growing_pauses(
    store: ModelStore, hub: HubServer
) -> None:
    hub.statuses = [503, 200, 200, 503, 429]  # three HEAD requests, then GETs
    watcher = Watcher()
    fetcher(store, hub, watcher).fetch(SOME)
    assert store.state(SOME) == "installed"
    assert watcher.waits_s == [1.0, 1.0, 2.0]


def test_ok_complete_files_are_verified_and_not_fetched_again(
    store: ModelStore, hub: HubServer
) -> None:
    fetcher(store, hub).fetch(SOME)
    hub.requests.clear()
    fetcher(store, hub).fetch(SOME)
    assert hub.gets == []


def test_ok_a_file_damaged_on_the_disk_is_replaced(store: ModelStore, hub: HubServer) -> None:
    fetcher(store, hub).fetch(SOME)
    path = store.folder(SOME) / "big.bin"
    path.write_bytes(b"x" + BIG[1:])
    assert "checksum" in store.damage(SOME)[0]
    fetcher(store, hub).fetch(SOME)
    assert path.read_bytes() == BIG


def test_ok_a_partial_file_longer_than_the_file_is_started_over(
    store: ModelStore, hub: HubServer
) -> None:
    store.folder(SOME).mkdir(parents=True)
    (store.folder(SOME) / "big.bin.partial").write_bytes(BIG + b"more")
    fetcher(store, hub).fetch(SOME)
    assert (store.folder(SOME) / "big.bin").read_bytes() == BIG


def test_fail_wrong_bytes_are_never_kept(store: ModelStore, hub: HubServer) -> None:
    hub.serves["deep/big.bin"] = b"x" + BIG[1:]
    with pytest.raises(FetchError, match=r"SHA-256 .* instead of .*deleted"):
        fetcher(store, hub).fetch(SOME)
    assert store.state(SOME) == "missing"
    assert not list(store.root.rglob("big.bin*"))


def test_fail_more_bytes_than_expected_are_never_kept(store: ModelStore, hub: HubServer) -> None:
    hub.serves["deep/big.bin"] = BIG + b"more"
    with pytest.raises(FetchError, match="more than the 3000000 bytes"):
        fetcher(store, hub).fetch(SOME)
    assert store.state(SOME) != "installed"


def test_fail_a_file_that_was_replaced_on_the_hub_is_refused_before_the_download(
    store: ModelStore, hub: HubServer
) -> None:
    for other, what in ((BIG + b"!", "size"), (BIG[:-1] + b"!", "SHA-256")):
        hub.files["deep/big.bin"] = other
        with pytest.raises(FetchError, match=f"file of {what} .* instead of"):
            fetcher(store, hub).fetch(SOME)
    assert hub.gets == []


def test_fail_a_missing_file_is_reported(store: ModelStore, hub: HubServer) -> None:
    del hub.files["config.json"]
    with pytest.raises(FetchError, match=r"does not have config.json .*any more"):
        fetcher(store, hub).fetch(SOME)


@pytest.mark.parametrize(
    ("status", "words"),
    [(401, "answered 401.*HF_TOKEN"), (403, "answered 403.*HF_TOKEN"), (400, "answered 400")],
)
def test_fail_a_closed_repository_is_reported(
    store: ModelStore, hub: HubServer, status: int, words: str
) -> None:
    hub.statuses = [status]
    with pytest.raises(FetchError, match=words):
        fetcher(store, hub).fetch(SOME)


def test_fail_an_unreachable_hub_is_reported_after_some_attempts(
    store: ModelStore, hub: HubServer
) -> None:
    offline = ModelFetcher(store, ModelHub("http://127.0.0.1:9"), Watcher(), sleep=lambda _: None)
    with pytest.raises(FetchError, match="cannot be reached"):
        offline.fetch(SOME)
    assert store.state(SOME) == "missing"


def test_fail_missing_disk_space_is_reported_with_its_amount(
    store: ModelStore, hub: HubServer
) -> None:
    with pytest.raises(StorageError, match=r"needs 3 MB more .* 2 MB are missing.*state_dir"):
        fetcher(store, hub, free_bytes=lambda _: SPARE_BYTES + 1_000_000).fetch(SOME)
    assert hub.gets == []
    fetcher(store, hub, free_bytes=lambda _: SPARE_BYTES + 3_000_100).fetch(SOME)


@pytest.mark.process
def test_fail_a_disk_that_fills_up_keeps_what_arrived(store: ModelStore, hub: HubServer) -> None:
    code = (
        "import sys, resource\n"
        "from tests.models import test_fetcher as t\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, 1_500_000))\n"
        "t.fetch_in_child(sys.argv[1], sys.argv[2])\n"
    )
    child = subprocess.run(
        [sys.executable, "-c", code, str(store.root), hub.endpoint],
        check=False, capture_output=True, text=True, timeout=60, cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert child.stdout.startswith("74 "), child.stderr
    assert "cannot be written (File too large)" in child.stdout
    assert store.state(SOME) == "partial"
    fetcher(store, hub).fetch(SOME)
    assert store.damage(SOME) == []
    assert hub.gets[-2] is not None  # the big file was resumed


def fetch_in_child(root: str, endpoint: str) -> None:
    """The code of a child process of these tests. Prints the exit code and the error."""
    try:
        ModelFetcher(ModelStore(Path(root), {}), ModelHub(endpoint), Watcher()).fetch(SOME)
    except (FetchError, StorageError) as error:
        print(error.exit_code, error)


def test_fail_a_disk_that_cannot_be_written_is_reported(tmp_path: Path, hub: HubServer) -> None:
    (tmp_path / "file").touch()
    # Below a file, so that not even root can write.
    unwritable = ModelStore(tmp_path / "file" / "models", {})
    with pytest.raises(StorageError, match="cannot be written"):
        fetcher(unwritable, hub).fetch(SOME)


def test_fail_a_concurrent_fetch_is_locked_out(store: ModelStore, hub: HubServer) -> None:
    hub.hold = threading.Event()
    first = threading.Thread(target=fetcher(store, hub).fetch, args=(SOME,))
    first.start()
    deadline = time.monotonic() + 10
    while not hub.gets and time.monotonic() < deadline:
        time.sleep(0.01)
    with pytest.raises(FetchError, match="Another process is fetching some"):
        fetcher(store, hub).fetch(SOME)
    hub.hold.set()
    first.join(10)
    assert store.state(SOME) == "installed"


def test_ok_an_interrupt_leaves_a_partial_file_that_is_resumed(
    store: ModelStore, hub: HubServer
) -> None:
    class Impatient(Watcher):
        def advance(self, name: str, done: int) -> None:
            if done > 1_000_000:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetcher(store, hub, Impatient()).fetch(SOME)
    assert store.state(SOME) == "partial"
    fetcher(store, hub).fetch(SOME)
    assert hub.gets[1] is not None
    assert store.damage(SOME) == []


@pytest.mark.parametrize("large", [True, False])
def test_ok_unknown_checksums_and_revision_are_pinned_by_the_first_fetch(
    store: ModelStore, hub: HubServer, large: bool
) -> None:
    hub.large = large
    fetcher(store, hub).fetch(OPEN)
    pinned_model = store.pinned(OPEN)
    assert pinned_model.revision == COMMIT
    assert [file.sha256 for file in pinned_model.files.values()] == [
        hashlib.sha256(content).hexdigest() for content in (BIG, SMALL)
    ]
    assert hub.requests[0][1].split("/")[4] == "main"
    assert all(path.split("/")[4] == COMMIT for method, path, _ in hub.requests[1:])


def test_fail_bytes_other_than_those_pinned_by_the_first_fetch_are_refused(
    store: ModelStore, hub: HubServer
) -> None:
    hub.large = False
    fetcher(store, hub).fetch(OPEN)
    for file in store.folder(OPEN).iterdir():
        file.unlink()
    hub.serves["config.json"] = SMALL.replace(b"a", b"b")
    with pytest.raises(FetchError, match=r"config.json: what arrived has SHA-256"):
        fetcher(store, hub).fetch(OPEN)
    assert store.state(OPEN) != "installed"


def test_fail_a_shipped_model_is_not_fetched(store: ModelStore, hub: HubServer) -> None:
    shipped = CatalogueModel(
        name="ours",
        kind="language",
        about="",
        repository=None,
        licence="",
        licence_url="",
        files={},
    )
    with pytest.raises(FetchError, match="comes with the package"):
        fetcher(store, hub).fetch(shipped)
