"""Try: tests of check, microphone, echo, wake word and light, and their results."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import cast, get_args

from appliance.messages.commands import StopSpeaking
from appliance.messages.trying import ShowLight, SoundRecorded, TrialKind
from appliance.page.echo_findings import health, taken_db
from appliance.page.findings import LONGEST_S, PROGRAM, finding_row, program_input
from appliance.page.microphone_findings import findings
from appliance.page.requests import Reply, plain, see_other
from appliance.page.visit import Visit
from appliance.page.wake_log import WakeRow
from appliance.panel.light import PATTERNS, LightPattern

PLACE = "/try"
_COLOURS = {
    (1.0, 1.0, 1.0): "white",
    (1.0, 0.0, 0.0): "red",
    (1.0, 0.5, 0.0): "amber",
    (0.0, 0.3, 1.0): "blue",
    (0.0, 1.0, 0.2): "green",
    (0.7, 0.0, 1.0): "violet",
}


def show(visit: Visit) -> Reply:
    """Show all tests and the results so far."""
    trying = visit.box.trying
    trying.seen_s = visit.box.now_s()
    trying.expire(trying.seen_s)
    return visit.page(
        "try",
        check=trying.check,
        findings=[finding_row(finding, visit.texts) for finding in trying.check.found],
        sound=trying.sound,
        echo=health(trying.sound.echo) if trying.sound.echo else None,
        taken_db=taken_db,
        wakes=[_wake_row(visit, row) for row in trying.wake.rows],
        wake=visit.box.settings.hearing.wake,
        awaits_wake=_awaits_wake(visit),
        microphone=_microphone(visit, trying.sound.recorded),
        busy=trying.sound.under_way or trying.check.phase == "running",
        refused=visit.texts.templates("page-refused-"),
        echoes=visit.texts.templates("page-echo-"),
        goes_on=visit.texts.templates("page-goes-on-"),
        verdicts=visit.texts.templates("page-finding-"),
        lights=[_light(visit, name, row) for name, row in PATTERNS.items()],
        has_light=visit.box.settings.panel.here,
    )


def command(visit: Visit) -> Reply:
    """Run the test that a form names, and redirect to the page."""
    do = _COMMANDS.get(visit.form.get("do", ""))
    if do is None:
        return plain(400, "There is no test of that name.")
    return do(visit) or see_other(PLACE)


def _check(visit: Visit) -> Reply | None:
    box, check = visit.box, visit.box.trying.check
    if check.begin(box.now_s()):
        stdin = program_input(box.settings, box.model.status)
        box.start_program(PROGRAM, stdin, LONGEST_S, check.finish)
    return see_other(f"{PLACE}#check")


def _show_light(visit: Visit) -> Reply | None:
    pattern = visit.form.get("pattern", "")
    if pattern not in PATTERNS:
        return plain(400, "There is no such light pattern.")
    if not visit.box.send(ShowLight(pattern)):
        return plain(503, "The box takes no commands at the moment. Try again.")
    return see_other(f"{PLACE}#light")


def _sound(visit: Visit) -> Reply | None:
    kind = visit.form.get("kind", "")
    if kind not in get_args(TrialKind):
        return plain(400, "There is no test of that name.")
    box = visit.box
    if box.trying.enrolment.under_way:
        box.trying.sound.refuse("busy", box.now_s())
        return see_other(f"{PLACE}#{kind}")
    message = box.trying.sound.begin(cast("TrialKind", kind), box.now_s())
    if message is not None and not box.send(message):
        box.trying.sound.refuse("no-answer", box.now_s())
    return see_other(f"{PLACE}#{kind}")


def _stop(visit: Visit) -> Reply | None:
    visit.box.send(StopSpeaking())
    return None


def _microphone(visit: Visit, recorded: SoundRecorded | None) -> list[tuple[str, str]]:
    """Findings of the microphone test: severity, and a sentence with its remedy."""
    if recorded is None:
        return []
    found = findings(recorded)
    severity = "ok" if found == ["good"] else "warning"
    return [(severity, visit.texts(f"page-microphone-{key}")) for key in found]


def _awaits_wake(visit: Visit) -> bool:
    """Whether the listening mode is `wake_word`."""
    status = visit.box.model.status
    return (status.mode if status is not None else visit.box.settings.mode) == "wake_word"


def _wake_row(visit: Visit, row: WakeRow) -> dict[str, str]:
    """Time, score, and the sensitivity from which on it would have been detected."""
    at_s = time.time() - (visit.box.now_s() - row.at_s)
    texts = visit.texts
    if row.heard:
        what = texts("page-try-wake-heard")
    elif row.needed is None:
        what = texts("page-try-wake-never")
    else:
        what = texts("page-try-wake-from", sensitivity=f"{row.needed:.1f}")
    when = time.strftime("%H:%M:%S", time.localtime(at_s))
    return {"when": when, "score": f"{row.score:.2f}", "what": what}


def _light(visit: Visit, name: str, row: LightPattern) -> dict[str, str]:
    """A light pattern, described in the browser's language."""
    texts = visit.texts
    says = texts(f"page-light-{name.replace('_', '-')}")
    if row.shape == "blink":
        how = texts("page-light-blink", times=row.flashes, seconds=f"{row.period_s:g}")
    else:
        how = texts(f"page-light-{row.shape}")
    return {"name": name, "says": says, "how": how, "colour": _COLOURS[row.colour]}


_COMMANDS: dict[str, Callable[[Visit], Reply | None]] = {
    "check": _check,
    "light": _show_light,
    "sound": _sound,
    "stop": _stop,
}
