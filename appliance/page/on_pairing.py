"""Letting a browser in: the digits that the box says, the button, and who was let in."""

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
    """To a stranger: the box's name and state, and how to be let in."""
    box, now_s = visit.box, visit.box.now_s()
    who = visit.request.cookie(WAITING)
    if box.pairing.pop_let_in(who, now_s):
        return _let_in(visit)
    return visit.page(
        "pair",
        status,
        problem=problem,
        waits=box.pairing.waits(who, now_s),
        asked=box.pairing.is_asked_for(now_s),
        printed=box.pairing.is_printed(),
        passphrase=box.access.has_passphrase,
    )


def ask_code(visit: Visit) -> Reply:
    """Have the box say the digits."""
    box, now_s = visit.box, visit.box.now_s()
    digits = box.pairing.code(now_s)
    if not digits:
        return show(visit, 429, visit.texts("page-pair-locked"))
    if not box.pairing.may_speak(now_s):
        return show(visit, 429, visit.texts("page-pair-wait"))
    box.send(Say(visit.box_says("pairing-digits", digits=_spoken(digits)), chime=True))
    return see_other("/pair")


def enter_code(visit: Visit) -> Reply:
    """The digits as they were typed."""
    box, now_s = visit.box, visit.box.now_s()
    if not box.access.is_passphrase(visit.form.get("passphrase", "")[:200]):
        box.pairing.check("", now_s)  # counts as a try
        return show(visit, 403, visit.texts("page-pair-wrong"))
    printed = box.pairing.is_printed()
    if not box.pairing.check(visit.form.get("code", ""), now_s):
        return show(visit, 403, visit.texts("page-pair-wrong"))
    return _let_in(visit, aloud=not printed)


def ask_button(visit: Visit) -> Reply:
    """Wait for a press of the button."""
    box, now_s = visit.box, visit.box.now_s()
    if not box.access.is_passphrase(visit.form.get("passphrase", "")[:200]):
        box.pairing.check("", now_s)
        return show(visit, 403, visit.texts("page-pair-wrong"))
    who = box.pairing.wait_for_button(now_s)
    if not who:
        return show(visit, 429, visit.texts("page-pair-wait"))
    if box.pairing.may_speak(now_s):
        box.send(Say(visit.box_says("pairing-button"), chime=True))
    return see_other("/pair", set_cookie(WAITING, who, WAITING_S))


def list_access(visit: Visit) -> Reply:
    """Who was let in."""
    access = visit.box.access
    return visit.page(
        "access", browsers=access.browsers, passphrase=access.has_passphrase, day=_day
    )


def revoke(visit: Visit) -> Reply:
    """Take an access back, one's own too."""
    which = visit.form.get("id", "")
    visit.box.access.revoke(which)
    visit.box.disconnect(which)
    if visit.browser is not None and visit.browser.id == which:
        return see_other("/?said=page-notice-logged-out", set_cookie(COOKIE, "", 0))
    return see_other("/access?said=page-notice-revoked")


def set_passphrase(visit: Visit) -> Reply:
    """Wanted of each new browser from now on."""
    visit.box.access.set_passphrase(visit.form.get("passphrase", "")[:200])
    return see_other("/access?said=page-notice-saved")


def _let_in(visit: Visit, *, aloud: bool = True) -> Reply:
    """Told where the digits were told: aloud, or in the log of who started the box."""
    name = browser_name(visit.request.headers.get("user-agent", ""))
    cookie = visit.box.access.let_in(name)
    if aloud:
        visit.box.send(Say(visit.box_says("pairing-done", name=name)))
    else:
        log.info("%s was let in by the digits that were printed", name)
    return see_other("/", set_cookie(COOKIE, cookie, COOKIE_S), set_cookie(WAITING, "", 0))


def browser_name(agent: str) -> str:
    """Of a User-Agent: "Firefox, Android". What is unknown is "Browser"."""
    found = [next((one for one in kind if one in agent), "") for kind in (_BROWSERS, _SYSTEMS)]
    return ", ".join(_NAMED.get(one, one) for one in found if one) or "Browser"


def _spoken(digits: str) -> str:
    """One by one, in two groups: a voice reads 482913 as a number."""
    half = len(digits) // 2
    return ". ".join(", ".join(group) for group in (digits[:half], digits[half:]))


def _day(since_1970_s: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(since_1970_s))
