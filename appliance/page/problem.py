"""Error replies as a page in the browser's language, for browsers that show them."""

from __future__ import annotations

from appliance.page.requests import TEXT, Reply, Request, plain
from appliance.page.visit import Visit

# Status → last part of its key in the catalogue.
KINDS = {404: "missing", 405: "missing", 403: "refused", 429: "often", 503: "busy"}
TOLD = (409, 500)  # their replies have a translated sentence already, which says more
NOT_LET_IN = plain(403, "Your browser has to be paired first.")


def is_for_people(request: Request, reply: Reply) -> bool:
    """Whether a browser would show the text of this error reply to its user."""
    wants = "text/html" in request.headers.get("accept", "")
    return wants and reply.status >= 400 and reply.kind == TEXT


def problem_page(visit: Visit, reply: Reply) -> Reply:
    """The page for an error, with the same status and a link back to the form's page if known."""
    kind = "stranger" if reply == NOT_LET_IN else KINDS.get(reply.status, "wrong")
    title, why = visit.texts(f"page-problem-{kind}"), visit.texts(f"page-problem-{kind}-why")
    if reply.status in TOLD:
        why = reply.body.decode().strip()
    return visit.page("problem", reply.status, title=title, why=why, back=_back(visit))


def _back(visit: Visit) -> str:
    """Path of the section that was requested; never an arbitrary path sent by the browser."""
    first = "/" + visit.request.path.split("/")[1]
    known = visit.browser is not None and first in ("/set", "/try", "/own", "/access")
    return first if known else "/"
