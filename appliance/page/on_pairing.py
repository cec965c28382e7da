"""Pairing of browsers by spoken digits or the button, and the list of paired browsers."""

from __future__ import annotations

import logging
import math
import time

from appliance.messages.commands import ButtonPressed, Say
from appliance.messages.registry import Message
from appliance.page.requests import Reply, see_other
from appliance.page.visit import COOKIE, COOKIE_S, WAITING, WAITING_S, PageBox, Visit, set_cookie

_SYSTEMS = ("iPhone", "iPad", "Android", "Windows", "Macintosh", "CrOS", "Linux")
_BROWSERS = ("Firefox", "Edg", "SamsungBrowser", "OPR", "Chrome", "Safari")
_NAMED = {"Edg": "Edge", "OPR": "Opera", "Macintosh": "Mac", "CrOS": "ChromeOS",
          "SamsungBrowser": "Samsung Internet"}  # fmt: skip

# In BoxStatus.broken: with one of these an announcement is not heard.
SILENT = frozenset({"playback", "speaker", "the loudspeaker"})

log = logging.getLogger("page")


def show(visit: Visit, status: int = 200, problem: str = "") -> Reply:
    """Show an unpaired browser the box's name and state, and the ways to pair."""
    box, now_s = visit.box, visit.box.now_s()
    token, passphrase = visit.request.cookie(WAITING), box.access.has_passphrase
    attempt = box.pairing.attempt(token, now_s)
    if attempt is not None and attempt.pressed and not passphrase:
        box.pairing.check(token, "", now_s, lambda: True)
        return _let_in(visit)
    return visit.page("pair", status, problem=problem, attempt=attempt, passphrase=passphrase)


def ask_code(visit: Visit) -> Reply:
    """Make the box speak the digits."""
    return _announce(visit, "pairing-digits", button=False)


def ask_button(visit: Visit) -> Reply:
    """Make the box speak the two digits that the browser shows while it waits for a press."""
    return _announce(visit, "pairing-button", button=True)


def _announce(visit: Visit, sentence: str, *, button: bool) -> Reply:
    """Make the box say digits for the browser; refuse if it may not, or cannot be heard."""
    box, now_s, client = visit.box, visit.box.now_s(), visit.request.client
    refusal = box.pairing.refusal(client, now_s, button=button, night=box.at_night())
    if refusal is not None:
        minutes = math.ceil(box.pairing.wait_s(client, now_s) / 60)
        night = " – ".join(box.settings.panel.night.split("-"))
        return show(visit, 429, visit.texts(f"page-pair-{refusal}", minutes=minutes, night=night))
    status = box.model.status
    if status is not None and (not status.volume or SILENT.intersection(status.broken)):
        return show(visit, 503, visit.texts("page-pair-silent"))
    token, attempt = box.pairing.begin(visit.request.cookie(WAITING), client, now_s, button=button)
    text = visit.box_says(sentence, digits=_spoken(attempt.digits))
    if not box.send(Say(text, chime=True, number=attempt.number)):
        attempt.void = True
    return see_other("/pair", set_cookie(WAITING, token, WAITING_S))


def enter_code(visit: Visit) -> Reply:
    """Check the typed digits and the passphrase; after a press the passphrase alone."""
    box, now_s = visit.box, visit.box.now_s()
    token, passphrase = visit.request.cookie(WAITING), visit.form.get("passphrase", "")[:200]
    attempt = box.pairing.attempt(token, now_s)
    typed = visit.form.get("code", "")
    if not box.pairing.check(token, typed, now_s, lambda: box.access.is_passphrase(passphrase)):
        if box.pairing.pop_warning(now_s):
            log.warning("a client of %s guesses digits or passphrase", visit.request.client)
            if not box.at_night():
                box.send(Say(visit.box_says("pairing-guessed")))
        return show(visit, 403, visit.texts("page-pair-wrong"))
    return _let_in(visit, aloud=attempt is None or not attempt.printed)


def follow(box: PageBox, message: Message) -> None:
    """Handle a message of the box. A press during an enrolment ends that, and pairs no browser."""
    if not (isinstance(message, ButtonPressed) and box.trying.enrolment.under_way):
        box.pairing.handle(message, box.now_s())


def list_access(visit: Visit) -> Reply:
    """Show the paired browsers."""
    access = visit.box.access
    return visit.page(
        "access", browsers=access.browsers, passphrase=access.has_passphrase, day=_day
    )


def revoke(visit: Visit) -> Reply:
    """Revoke the access of a browser, which may be the requesting one."""
    id_ = visit.form.get("id", "")
    visit.box.access.revoke(id_)
    visit.box.disconnect(id_)
    if visit.browser is not None and visit.browser.id == id_:
        return see_other("/?said=page-notice-logged-out", set_cookie(COOKIE, "", 0))
    return see_other("/access?said=page-notice-revoked")


def set_passphrase(visit: Visit) -> Reply:
    """Set the passphrase that pairing requires."""
    visit.box.access.set_passphrase(visit.form.get("passphrase", "")[:200])
    return see_other("/access?said=page-notice-saved")


def _let_in(visit: Visit, *, aloud: bool = True) -> Reply:
    """Pair the browser. It is announced where the digits were: aloud, or in the log if the digits
    were printed at the start."""
    name = browser_name(visit.request.headers.get("user-agent", ""))
    cookie = visit.box.access.let_in(name)
    if aloud:
        visit.box.send(Say(visit.box_says("pairing-done", name=name)))
    else:
        log.info("%s was let in by the digits that were printed", name)
    return see_other("/", set_cookie(COOKIE, cookie, COOKIE_S), set_cookie(WAITING, "", 0))


def browser_name(agent: str) -> str:
    """Name of a User-Agent, as "Firefox, Android"; "Browser" if unknown."""
    found = [next((name for name in kind if name in agent), "") for kind in (_BROWSERS, _SYSTEMS)]
    return ", ".join(_NAMED.get(name, name) for name in found if name) or "Browser"


def _spoken(digits: str) -> str:
    """The digits one by one, in groups of at most three: a voice would read 482913 as a number."""
    groups = (digits[at : at + 3] for at in range(0, len(digits), 3))
    return ". ".join(", ".join(group) for group in groups)


def _day(since_1970_s: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(since_1970_s))
