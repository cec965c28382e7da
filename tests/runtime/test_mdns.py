"""The box's own mDNS name from avahi, replaced here by a socket that answers as avahi 0.8 does.

image/test/test_names.py uses the real avahi.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from appliance.runtime.mdns import own_name

UNKNOWN = "-15 Timeout reached\n"


@contextmanager
def avahi(folder: Path, knows: dict[str, str]) -> Iterator[Path]:
    """`knows`: the complete answer for each address."""
    place = folder / "socket"
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(place))
        door.listen()

        def answer() -> None:
            while True:
                try:
                    wire, _ = door.accept()
                except OSError:
                    return
                with wire, wire.makefile("r") as lines:
                    verb, address = lines.readline().split()
                    assert verb == "RESOLVE-ADDRESS"
                    wire.sendall(knows.get(address, UNKNOWN).encode("latin-1"))

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            yield place
        finally:
            door.shutdown(socket.SHUT_RDWR)
            thread.join()


def test_the_own_name_is_the_one_that_resolves_to_an_own_address(tmp_path: Path) -> None:
    with avahi(tmp_path, {"192.168.1.7": "+ 2 0 kitchen-2.local\n"}) as place:
        assert own_name(["10.0.0.1", "192.168.1.7"], place) == "kitchen-2.local"


@pytest.mark.parametrize(
    "answer_line",
    [UNKNOWN, "", "+ 2 0\n", "+ 2 0 kitchen local\n", "+ 2 0 k\xfc.local\n", "+ 2 0 a.local"],
)
def test_an_invalid_answer_gives_no_name(tmp_path: Path, answer_line: str) -> None:
    with avahi(tmp_path, {"192.168.1.7": answer_line}) as place:
        assert own_name(["192.168.1.7"], place) == ""


def test_without_avahi_or_an_address_there_is_no_name(tmp_path: Path) -> None:
    assert own_name(["192.168.1.7"], tmp_path / "nobody") == ""
    assert own_name([], tmp_path / "nobody") == ""
