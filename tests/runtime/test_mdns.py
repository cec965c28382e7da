"""The box's own name, as avahi says it: a socket stands in that answers as avahi 0.8 does.

image/test/test_names.py asks avahi itself.
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
    """`knows`: its whole answer to each address."""
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


def test_its_name_is_the_one_that_leads_to_it(tmp_path: Path) -> None:
    with avahi(tmp_path, {"192.168.1.7": "+ 2 0 kitchen-2.local\n"}) as place:
        assert own_name(["10.0.0.1", "192.168.1.7"], place) == "kitchen-2.local"


@pytest.mark.parametrize(
    "said",
    [UNKNOWN, "", "+ 2 0\n", "+ 2 0 kitchen local\n", "+ 2 0 k\xfc.local\n", "+ 2 0 a.local"],
)
def test_what_is_no_name_is_none(tmp_path: Path, said: str) -> None:
    with avahi(tmp_path, {"192.168.1.7": said}) as place:
        assert own_name(["192.168.1.7"], place) == ""


def test_where_nobody_answers_or_there_is_no_address_there_is_no_name(tmp_path: Path) -> None:
    assert own_name(["192.168.1.7"], tmp_path / "nobody") == ""
    assert own_name([], tmp_path / "nobody") == ""
