"""Pairing of browsers by spoken digits or the button, and the list of paired browsers."""

from __future__ import annotations

import logging
import time

from appliance.messages.commands import Say
from appliance.page.requests import Reply, see_other
from appliance.page.visit import COOKIE, COOKIE_S, WAITING, WAITING_S, Visit, set_cookie

_SYSTEMS = ("iPhone", "iPad", "Android", "Windows", "Macintosh", "CrOS", "Linux")
_BROWSERS = ("Firefox", "Edg", "SamsungBrowser", "OPR", "Chrome", "Safari")
_NAMED = {"Edg": "Edge", "OPR": "Opera", "Macintosh": "Mac", "CrOS": "ChromeOS",
          "SamsungBrowser": "Samsung Internet"}  # fmt: skip

log = logging.getLogger("page")


def show(visit: Visit, status: int = 200, problem: str = "") -> Reply:
    """Show an unpaired browser the box's name and state, and the ways to pair."""
    box, now_s = visit.box, visit.box.now_s()
    waiting = visit.request.cookie(WAITING)
    if box.pairing.pop_let_in(waiting, now_s):
        return _let_in(visit)
    return visit.page(
        "pair",
        status,
        problem=problem,
        waits=box.pairing.waits(waiting, now_s),
        asked=box.pairing.is_asked_for(now_s),
        printed=box.pairing.is_printed(),
        passphrase=box.access.has_passphrase,
    )


def ask_code(visit: Visit) -> Reply:
    """Make the box speak the digits."""
    box, now_s = visit.box, visit.box.now_s()
    digits = box.pairing.code(now_s)
    if not digits:
        return show(visit, 429, visit.texts("page-pair-locked"))
    if not box.pairing.may_speak(now_s):
        return show(visit, 429, visit.texts("page-pair-wait"))
    box.send(Say(visit.box_says("pairing-digits", digits=_spoken(digits)), chime=True))
    return see_other("/pair")


def enter_code(visit: Visit) -> Reply:
    """Check the typed digits and the passphrase."""
    box, now_s = visit.box, visit.box.now_s()
    if not box.access.is_passphrase(visit.form.get("passphrase", "")[:200]):
        box.pairing.check("", now_s)  # counts as a failed attempt
        return show(visit, 403, visit.texts("page-pair-wrong"))
    printed = box.pairing.is_printed()
    if not box.pairing.check(visit.form.get("code", ""), now_s):
        return show(visit, 403, visit.texts("page-pair-wrong"))
    return _let_in(visit, aloud=not printed)


def ask_button(visit: Visit) -> Reply:
    """Let the browser wait for a press of the button."""
    box, now_s = visit.box, visit.box.now_s()
    if not box.access.is_passphrase(visit.form.get("passphrase", "")[:200]):
        box.pairing.check("", now_s)
        return show(visit, 403, visit.texts("page-pair-wrong"))
    waiting = box.pairing.wait_for_button(now_s)
    if not waiting:
        return show(visit, 429, visit.texts("page-pair-wait"))
    if box.pairing.may_speak(now_s):
        box.send(Say(visit.box_says("pairing-button"), chime=True))
    return see_other("/pair", set_cookie(WAITING, waiting, WAITING_S))


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
    """The digits one by one, in two groups, since a voice would read 482913 as a number."""
    half = len(digits) // 2
    return ". ".join(", ".join(group) for group in (digits[:half], digits[half:]))


def _day(since_1970_s: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(since_1970_s))
