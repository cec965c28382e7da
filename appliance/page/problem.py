"""What could not be done, as a page in the browser's language: for who reads it."""

from __future__ import annotations

from appliance.page.requests import TEXT, Reply, Request, plain
from appliance.page.visit import Visit

# Status → the end of its key in the catalogue.
KINDS = {404: "missing", 405: "missing", 403: "refused", 429: "often", 503: "busy"}
TOLD = (409, 500)  # whose sentence is out of the catalogue, and says more
NOT_LET_IN = plain(403, "Your browser has to be let in first.")


def is_for_people(request: Request, reply: Reply) -> bool:
    """Whether a refusal is about to be shown by a browser as it stands there."""
    wants = "text/html" in request.headers.get("accept", "")
    return wants and reply.status >= 400 and reply.kind == TEXT


def problem_page(visit: Visit, reply: Reply) -> Reply:
    """With the same status, and a way back: to the page that a form stood on, where it is known."""
    kind = "stranger" if reply == NOT_LET_IN else KINDS.get(reply.status, "wrong")
    title, why = visit.texts(f"page-problem-{kind}"), visit.texts(f"page-problem-{kind}-why")
    if reply.status in TOLD:
        why = reply.body.decode().strip()
    return visit.page("problem", reply.status, title=title, why=why, back=_back(visit))


def _back(visit: Visit) -> str:
    """Of the page's own parts the one that was meant; no address that a browser has sent."""
    first = "/" + visit.request.path.split("/")[1]
    known = visit.browser is not None and first in ("/set", "/try", "/own", "/access")
    return first if known else "/"
