"""Routes of the page and the access checks. Every request passes the same checks, in this order.

1. Host: must name this box (hosts.py); otherwise the request is rejected.
2. Static files, which contain no data of the box, are sent to any client.
3. A form: from a page of this box (Origin), within the rate limit, of a paired browser with its
   token.
4. An unpaired browser sees only the box's name and state, and how to pair.

An error is shown as a page if the browser accepts HTML.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from appliance.page import (
    on_backup,
    on_enrol,
    on_live,
    on_memory,
    on_models,
    on_network,
    on_own,
    on_pairing,
    on_report,
    on_settings,
    on_software,
    on_timers,
    on_try,
)
from appliance.page.access import is_form_token
from appliance.page.hosts import is_own_fetch, is_own_host, is_own_origin
from appliance.page.problem import NOT_LET_IN, is_for_people, problem_page
from appliance.page.requests import EventStream, Reply, Request, plain, see_other
from appliance.page.static_files import StaticFiles
from appliance.page.texts import Texts
from appliance.page.upload import Upload
from appliance.page.viewers import Viewer, Viewers, encoded
from appliance.page.visit import COOKIE, Handler, PageBox, Visit
from appliance.token_bucket import TokenBucket

MOST_POSTS, POSTS_A_SECOND = 30, 1.0  # forms per client: burst, and then average rate
MOST_CLIENTS = 256  # for which the rate is limited separately


@dataclass(frozen=True)
class PageRoute:
    """Handlers of a path; None: the method is not allowed. `open`: also for unpaired browsers."""

    get: Handler | None = None
    post: Handler | None = None
    open: bool = False


PAGES: dict[str, PageRoute] = {
    "/": PageRoute(on_live.show),
    "/pair": PageRoute(on_pairing.show, on_pairing.enter_code, open=True),
    "/pair/code": PageRoute(post=on_pairing.ask_code, open=True),
    "/pair/button": PageRoute(post=on_pairing.ask_button, open=True),
    "/do": PageRoute(post=on_live.command),
    "/set": PageRoute(on_settings.show, on_settings.change),
    "/set/broker": PageRoute(post=on_network.try_broker),
    "/set/certificate": PageRoute(post=on_network.accept_certificate),
    "/set/network": PageRoute(on_network.show, on_network.change),
    "/set/undo": PageRoute(post=on_settings.undo),
    "/try": PageRoute(on_try.show, on_try.command),
    "/own": PageRoute(on_own.show),
    "/own/timers": PageRoute(on_timers.show),
    "/own/timers/cancel": PageRoute(post=on_timers.cancel),
    "/own/memory": PageRoute(on_memory.show),
    "/own/memory/forget": PageRoute(post=on_memory.forget),
    on_enrol.PLACE: PageRoute(on_enrol.show, on_enrol.command),
    on_backup.PLACE: PageRoute(on_backup.show, on_backup.make),
    "/own/backup/file": PageRoute(on_backup.download),
    on_backup.UPLOAD_PLACE: PageRoute(post=on_backup.no_upload),
    "/own/backup/restore": PageRoute(post=on_backup.apply),
    "/own/backup/cancel": PageRoute(post=on_backup.cancel),
    "/own/backup/back": PageRoute(post=on_backup.bring_back),
    "/own/report": PageRoute(on_report.show, on_report.save),
    "/own/models": PageRoute(on_models.show, on_models.ask),
    "/own/models/choose": PageRoute(post=on_models.choose),
    "/own/software": PageRoute(on_software.show),
    "/own/software/install": PageRoute(post=on_software.install),
    "/own/software/look": PageRoute(post=on_software.look),
    "/own/software/back": PageRoute(post=on_software.go_back),
    "/own/software/system-back": PageRoute(post=on_software.system_back),
    "/access": PageRoute(on_pairing.list_access),
    "/access/revoke": PageRoute(post=on_pairing.revoke),
    "/access/passphrase": PageRoute(post=on_pairing.set_passphrase),
}


class PageSite:
    """Answers requests. `host`: the machine's name and the port. `watched`: called when a browser
    joins or leaves the event stream."""

    def __init__(
        self,
        box: PageBox,
        host: tuple[str, int],
        viewers: Viewers,
        watched: Callable[[], None],
    ) -> None:
        self._box, self._host = box, host
        self._viewers, self._watched = viewers, watched
        self._files = StaticFiles()
        self._posts: dict[str, TokenBucket] = {}

    def answer(self, request: Request) -> Reply | EventStream:
        if not self._is_own(request):
            return plain(421, "This box has another name.")
        if request.path.startswith("/static/"):
            return self._files.reply(request)
        browser = self._box.access.find(request.cookie(COOKIE))
        texts = Texts.wanted(
            request.headers.get("accept-language", ""), self._box.settings.language
        )
        visit = Visit(self._box, request, texts, browser)
        reply = self._answer(visit)
        if isinstance(reply, Reply) and is_for_people(request, reply):
            return problem_page(visit, reply)
        return reply

    def _is_own(self, request: Request) -> bool:
        box, host = self._box, request.headers.get("host", "")
        return is_own_host(host, *self._host, box.scheme, box.certified())

    def _answer(self, visit: Visit) -> Reply | EventStream:
        request = visit.request
        if request.path == "/events":
            return self._events(visit)
        route = PAGES.get(request.path)
        if route is None:
            return plain(404, "There is no such page.")
        if request.method in ("GET", "HEAD"):
            return self._get(visit, route)
        if request.method == "POST":
            return self._post(visit, route)
        return plain(405, "Only GET, HEAD and POST are allowed.")

    def receive(self, request: Request) -> Upload | None:
        """Start an upload for the one form with a larger limit, of a paired browser; all checks are
        done before the body is read. None: handle it as an ordinary request."""
        if request.method != "POST" or request.path != on_backup.UPLOAD_PLACE:
            return None
        if not self._is_own(request) or not is_own_origin(request.headers, self._box.scheme):
            return None
        browser = self._box.access.find(request.cookie(COOKIE))
        if browser is None or not is_own_fetch(request.headers):
            return None
        if not self._may_post(browser.id):
            return None
        texts = Texts.wanted(
            request.headers.get("accept-language", ""), self._box.settings.language
        )
        return on_backup.receive(Visit(self._box, request, texts, browser))

    def knows(self, request: Request) -> bool:
        """Whether the request is of a paired browser."""
        return self._box.access.find(request.cookie(COOKIE)) is not None

    def join(self, stream: EventStream, send: Callable[[bytes], None]) -> Viewer:
        """Add a browser to the event stream. `send` takes bytes, and b"" to disconnect."""
        viewer = Viewer(stream.access, stream.words, send)
        send(b"retry: 2000\n\n" + encoded([self._box.model.hello(self._box.now_s())]))
        self._viewers.add(viewer)
        self._watched()
        return viewer

    def leave(self, viewer: object) -> None:
        assert isinstance(viewer, Viewer)
        self._viewers.remove(viewer)
        self._watched()

    def _events(self, visit: Visit) -> Reply | EventStream:
        request = visit.request
        if visit.browser is None or not is_own_fetch(request.headers):
            return plain(403, "Events are only for paired browsers.")
        if request.method != "GET" or self._viewers.full:
            return plain(503, "Too many browsers are connected already.")
        return EventStream(visit.browser.id, words=request.words.get("words") == "1")

    def _get(self, visit: Visit, route: PageRoute) -> Reply:
        if route.get is None:
            return plain(405, "Only POST is allowed here.")
        if visit.browser is None and not route.open:
            return on_pairing.show(visit)
        if visit.browser is not None and route.open:
            return see_other("/")
        return route.get(visit)

    def _post(self, visit: Visit, route: PageRoute) -> Reply:
        request = visit.request
        if not is_own_origin(request.headers, self._box.scheme) or not is_own_fetch(
            request.headers
        ):
            return plain(403, "This form was sent by another page.")
        if not self._may_post(visit.browser.id if visit.browser else request.client):
            return plain(429, "Too many attempts. Wait a minute, then try again.")
        form = request.form()
        if form is None:
            return plain(415, "This is not a valid form.")
        if route.post is None:
            return plain(405, "Only GET is allowed here.")
        if visit.browser is None:
            if not route.open:
                return NOT_LET_IN
        elif not is_form_token(form.get("token", ""), request.cookie(COOKIE)) and not route.open:
            return plain(403, "This page is outdated. Load it again.")
        visit.form = form
        return route.post(visit)

    def _may_post(self, client: str) -> bool:
        """Whether a client may send a form now: a paired browser, by its id, or else a network."""
        now_s = self._box.now_s()
        if client not in self._posts and len(self._posts) >= MOST_CLIENTS:
            self._posts.pop(next(iter(self._posts)))
        bucket = self._posts.setdefault(client, TokenBucket(MOST_POSTS, POSTS_A_SECOND, now_s))
        return bucket.try_spend(now_s)
