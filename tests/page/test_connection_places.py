"""Which connections are held, and which are dropped for a new one."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from appliance.page.connection_places import (
    MOST_CONNECTIONS,
    MOST_OF_ONE,
    MOST_UNPAIRED,
    ConnectionPlaces,
    network_of,
)


@dataclass(eq=False)
class Line:
    network: str
    paired: bool = False
    waits: bool = True
    aborted: bool = False

    def abort(self) -> None:
        self.aborted = True


def crowd(places: ConnectionPlaces[Line], networks: int, of_one: int) -> list[Line]:
    """Connections without access, of each network in turn."""
    made = [Line(f"10.0.0.{number}") for _ in range(of_one) for number in range(networks)]
    assert all(places.add(line) for line in made)
    return made


def test_a_network_with_all_its_places_displaces_its_own_oldest_connection() -> None:
    places = ConnectionPlaces[Line]()
    other = Line("10.0.1.1")
    assert places.add(other)
    made = crowd(places, 1, MOST_OF_ONE + 3)
    assert [line.aborted for line in made] == [True] * 3 + [False] * MOST_OF_ONE
    assert not other.aborted
    assert len(places) == 1 + MOST_OF_ONE


def test_a_new_client_displaces_one_of_the_network_that_has_the_most() -> None:
    places = ConnectionPlaces[Line]()
    early = [Line("10.0.1.1"), Line("10.0.1.2")]
    assert all(map(places.add, early))
    made = crowd(places, 8, MOST_UNPAIRED // 8)
    late = Line("10.0.1.3")
    assert places.add(late)
    assert not any(line.aborted for line in (*early, late))
    assert sum(line.aborted for line in made) == 3
    assert len(places) == MOST_UNPAIRED


def test_a_paired_browser_is_never_displaced_and_has_places_of_its_own() -> None:
    places = ConnectionPlaces[Line]()
    own = [Line("10.0.0.1", paired=True) for _ in range(MOST_CONNECTIONS - MOST_UNPAIRED)]
    assert all(map(places.add, own))
    crowd(places, 8, 20)
    assert not any(line.aborted for line in own)
    assert len(places) == MOST_CONNECTIONS
    assert places.add(Line("10.0.2.1")), "a newcomer displaces a stranger"


def test_when_all_are_paired_a_new_client_is_refused() -> None:
    places = ConnectionPlaces[Line]()
    own = [Line("10.0.0.1", paired=True) for _ in range(MOST_CONNECTIONS)]
    assert all(map(places.add, own))
    assert not places.add(Line("10.0.0.2"))
    places.remove(own[0])
    assert places.add(Line("10.0.0.2"))


def test_a_connection_that_waits_for_a_request_is_dropped_before_one_that_is_answered() -> None:
    places = ConnectionPlaces[Line]()
    made = [Line("10.0.0.1", waits=number > 2) for number in range(MOST_OF_ONE)]
    assert all(map(places.add, made))
    for _ in range(MOST_OF_ONE - 3):
        places.add(Line("10.0.0.1", waits=False))
    assert [line.aborted for line in made] == [False] * 3 + [True] * (MOST_OF_ONE - 3)
    places.add(Line("10.0.0.1"))
    assert made[0].aborted, "if all are being answered, the oldest"


@pytest.mark.parametrize(
    ("client", "network"),
    [("192.168.1.9", "192.168.1.9"), ("127.0.0.1", "127.0.0.1"),
     ("::ffff:192.168.1.9", "192.168.1.9"), ("fe80::1%eth0", "fe80::/64"),
     ("fd00::1:2:3:4:5", "fd00:0:0:1::/64"), ("fd00:0:0:1::9", "fd00:0:0:1::/64"),
     ("8.8.8.8", ""), ("2606:4700::1", ""), ("::ffff:8.8.8.8", ""), ("", ""), ("x", "")],
)  # fmt: skip
def test_only_clients_of_the_local_network_have_one(client: str, network: str) -> None:
    assert network_of(client) == network
