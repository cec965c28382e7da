"""Serves the set-up page on the access point's address, while the box is in set-up and no longer.

Runs without rights. What was typed goes into a file, and root's own part reads, checks and applies
it (setup_session.py). Each writes into a folder of its own, in memory, where the other only reads:

/run/interlude-setup/open      root: there is set-up; the page's address, and networks in reach
/run/interlude-setup/problem   root: what went wrong with the last one, in a sentence
/run/interlude-page/typed.json the page: what was typed (submitted_form.py)
/run/interlude-page/used       the page: when somebody had it last
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import msgspec

from appliance.language.catalogue import SOURCE
from appliance.page.http_server import HttpServer
from appliance.provision import submitted_form
from appliance.provision.network_manager import WifiInReach
from appliance.provision.setup_site import MOST_BYTES, SetupSite
from appliance.record_file import read_record
from appliance.runtime.listening_socket import try_listen

FOLDER = Path("/run/interlude-setup")  # tmpfiles.d: root's; the page's user may read
OPEN, PROBLEM = "open", "problem"
CONNECTION_S = 5.0  # for one request; phones keep several connections open, some of them silent
LOOK_S = 0.5


class SetupAccess(msgspec.Struct, frozen=True):
    """What root says of a set-up. `port`: 80; a test takes what it gets. `networks`: in reach, the
    strongest first. `cable`: the box is in a network by one, and needs no Wi-Fi. `asked`: by the
    button. `language`: of the page, for who wants none of ours. `pages`: where the page will be in
    the house's network, with `{}` for the box's name; "": nowhere."""

    address: str
    port: int = 80
    networks: tuple[WifiInReach, ...] = ()
    cable: bool = False
    asked: bool = False
    language: str = SOURCE
    pages: str = ""


def read_access(folder: Path) -> SetupAccess | None:
    return read_record(folder / OPEN, SetupAccess)


def read_problem(folder: Path) -> str:
    """What went wrong with the last try; "" for nothing."""
    try:
        return (folder / PROBLEM).read_text(encoding="utf-8")
    except OSError:
        return ""


def serve(folder: Path = FOLDER, own: Path = submitted_form.FOLDER) -> None:
    """Until the set-up is over. Returns at once where there is none. Raises OSError."""
    asyncio.run(serve_access(folder, own))


async def serve_access(folder: Path, own: Path) -> None:
    """Likewise. `folder`: root's; `own`: the page's."""
    said = read_access(folder)
    if said is None:
        return
    made = server(folder, said, own)
    await made.start()
    over, loop = asyncio.Event(), asyncio.get_running_loop()

    def look() -> None:
        if read_access(folder) is None:
            over.set()
        else:
            loop.call_later(LOOK_S, look)

    look()
    await over.wait()
    made.close()


def server(folder: Path, said: SetupAccess, own: Path) -> HttpServer:
    """Bound to that address and no other. Raises OSError."""
    listener = try_listen((said.address, said.port))
    port = int(listener.getsockname()[1])
    site = SetupSite(
        said.address if port == 80 else f"{said.address}:{port}",
        lambda seed: submitted_form.submit(own, seed),
        time.monotonic,
        tuple(each.name for each in said.networks),
        said.cable,
        said.language,
        problem=lambda: read_problem(folder),
        used=lambda: submitted_form.mark_used(own),
    )
    return HttpServer(listener, site, request_s=CONNECTION_S, most_body=MOST_BYTES)
