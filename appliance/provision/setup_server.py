"""Serves the set-up page on the access point's address, as long as the set-up lasts.

Runs as an unprivileged user. It writes a submitted form to a file; the set-up session, which runs
as root, reads, checks and applies it (setup_session.py). Each of the two processes has a folder in
memory that the other one only reads:

/run/interlude-setup           root: the open set-up (setup_access.py)
/run/interlude-page/typed.json page: the submitted form (submitted_form.py)
/run/interlude-page/used       page: its mtime is the last use of the page
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from appliance.page.http_server import HttpServer
from appliance.provision import submitted_form
from appliance.provision.setup_access import FOLDER, SetupAccess, read_access, read_problem
from appliance.provision.setup_site import MOST_BYTES, SetupSite
from appliance.runtime.listening_socket import try_listen

CONNECTION_S = 5.0  # timeout of a request; phones keep several idle connections open
LOOK_S = 0.5


def serve(folder: Path = FOLDER, own: Path = submitted_form.FOLDER) -> None:
    """Serve until the end of the set-up; return at once if there is none. Raises OSError."""
    asyncio.run(serve_access(folder, own))


async def serve_access(folder: Path, own: Path) -> None:
    """The coroutine of `serve`. `folder`: root's; `own`: the page's."""
    access = read_access(folder)
    if access is None:
        return
    made = server(folder, access, own)
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


def server(folder: Path, access: SetupAccess, own: Path) -> HttpServer:
    """A server that is bound to the address of `access` only. Raises OSError."""
    listener = try_listen((access.address, access.port))
    port = int(listener.getsockname()[1])
    site = SetupSite(
        access.address if port == 80 else f"{access.address}:{port}",
        lambda seed: submitted_form.submit(own, seed),
        time.monotonic,
        tuple(network.name for network in access.networks),
        access.cable,
        access.language,
        problem=lambda: read_problem(folder),
        used=lambda: submitted_form.mark_used(own),
    )
    return HttpServer(listener, site, request_s=CONNECTION_S, most_body=MOST_BYTES)
