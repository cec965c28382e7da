"""A hub over HTTP: the description of a file, its bytes from any offset, and errors."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest

from appliance.errors import FetchError
from appliance.models.hub import ConnectionCut, HubFile, ModelHub, UnusableOffset
from tests.memory_peak import Peak
from tests.models.hub_server import COMMIT, REPOSITORY, HubServer

DATA = bytes(range(256)) * 100


@pytest.fixture
def server() -> Iterator[HubServer]:
    with HubServer({"a/b.bin": DATA}) as made:
        yield made


@pytest.fixture
def hub(server: HubServer) -> ModelHub:
    return ModelHub(server.endpoint)


def described(hub: ModelHub) -> HubFile:
    return hub.describe(REPOSITORY, "a/b.bin", None)


def all_of(hub: ModelHub, file: HubFile, offset: int) -> tuple[int, bytes]:
    with hub.bytes_from(file, offset) as (begin, chunks):
        return begin, b"".join(chunks)


def test_a_file_is_described_with_its_size_checksum_and_revision(
    hub: ModelHub,
) -> None:
    found = described(hub)
    assert (found.size, found.revision) == (len(DATA), COMMIT)
    assert found.sha256 == hashlib.sha256(DATA).hexdigest()
    assert COMMIT in found.address  # so that the bytes are of exactly this revision


def test_a_small_file_has_no_checksum(server: HubServer, hub: ModelHub) -> None:
    server.large = False
    assert described(hub).sha256 is None


@pytest.mark.parametrize("offset", [0, 1, 1000, len(DATA) - 1])
def test_bytes_are_sent_from_an_offset(hub: ModelHub, offset: int) -> None:
    assert all_of(hub, described(hub), offset) == (offset, DATA[offset:])


def test_a_server_without_ranges_is_detected(server: HubServer, hub: ModelHub) -> None:
    server.ranges = False
    assert all_of(hub, described(hub), 1000) == (0, DATA)
    server.ranges = "refuse"
    with pytest.raises(UnusableOffset):
        all_of(hub, described(hub), 1000)


def test_a_dropped_connection_and_a_server_error_may_be_retried(
    server: HubServer, hub: ModelHub
) -> None:
    file = described(hub)
    server.cuts = [100]
    with pytest.raises(ConnectionCut):
        all_of(hub, file, 0)
    for status in (500, 503, 429, 408):
        server.statuses = [status]
        with pytest.raises(ConnectionCut, match=str(status)):
            all_of(hub, file, 0)


@pytest.mark.parametrize(("path", "why"), [("none.bin", "does not have none.bin of")])
def test_a_missing_file_is_reported(hub: ModelHub, path: str, why: str) -> None:
    with pytest.raises(FetchError, match=why):
        hub.describe(REPOSITORY, path, None)


def test_an_unreachable_hub_may_be_retried() -> None:
    with pytest.raises(ConnectionCut):
        ModelHub("http://127.0.0.1:9").describe(REPOSITORY, "a/b.bin", None)


def test_the_endless_explanation_of_an_error_is_not_read(server: HubServer, hub: ModelHub) -> None:
    file = described(hub)
    server.statuses, server.explains = [403], b"x" * (64 << 20)
    peak = Peak()
    with pytest.raises(FetchError, match="403"):
        all_of(hub, file, 0)
    assert peak.mib < 16
