"""Each kind of visitor at a real page: viewers are served, and attacks are made and refused."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

import pytest

from lab.bench.page_visitors import ATTACK, KINDS, VIEWERS, PageVisitor
from tests.page.desk import Desk
from tests.page.served import Served, served_desk
from tests.waiting import until

pytestmark = pytest.mark.process  # each visitor runs for seconds

# Kind of visitor → the counter that must become positive.
DONE = {
    "look": "bytes of events",
    "guess": "a code, 403",
    "rebind": "another origin, 403",
    "drip": "slow requests",
    "crowd": "connections of a crowd",
    "upload": "bytes of them taken",
    "hoard": "views and replies not fetched",
    "flicker": "views opened and left",
}


@pytest.fixture
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    desk = Desk(tmp_path_factory.mktemp("desk"))
    site = served_desk(desk)
    yield site, desk.box.access.let_in("test")
    site.close()


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_visitor_makes_its_requests_and_the_next_browser_is_served(
    served: tuple[Served, str], kind: str
) -> None:
    site, cookie = served
    visitor = PageVisitor(site.port, cookie, "127.0.0.9")

    loop = asyncio.new_event_loop()
    task = asyncio.ensure_future(KINDS[kind](visitor), loop=loop)
    until(lambda: advance(loop) and visitor.done[DONE[kind]], within_s=30)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError, OSError):
        loop.run_until_complete(task)
    loop.close()
    assert visitor.done[DONE[kind]]
    assert not [name for name in visitor.done if name.endswith((", 200", ", 303", ", 500"))]
    until(lambda: is_served(site))  # once the site has noticed the closed connections


def is_served(site: Served) -> bool:
    with contextlib.suppress(ConnectionError):
        return site.ask("GET", "/")[0] == 200
    return False


def advance(loop: asyncio.AbstractEventLoop) -> bool:
    loop.run_until_complete(asyncio.sleep(0.01))
    return True


def test_every_kind_of_visitor_is_an_attacker_or_a_viewer() -> None:
    assert set(ATTACK) | set(VIEWERS) == set(KINDS)
    assert set(DONE) == set(KINDS)
