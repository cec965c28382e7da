"""Own: enrolment of the owner's "mm-hm" and "wait": record, learn, delete."""

from __future__ import annotations

import time

from appliance.messages.enrolling import OwnerVoiceChanged
from appliance.page.enrolment_run import ROUNDS, EnrolmentRun
from appliance.page.requests import Reply, plain, see_other
from appliance.page.visit import Visit
from appliance.runtime import enrolled_files

PLACE = "/own/voice"


def show(visit: Visit) -> Reply:
    """Show the saved enrolment and the progress of a running one."""
    trying = visit.box.trying
    trying.seen_s = visit.box.now_s()
    trying.expire(trying.seen_s)
    state, run = visit.box.settings.state_path(), trying.enrolment
    at_s = enrolled_files.enrolled_at(state)
    return visit.page(
        "enrol",
        run=run,
        rounds=ROUNDS,
        since=time.strftime("%Y-%m-%d %H:%M", time.localtime(at_s)) if at_s is not None else "",
        something=enrolled_files.is_there(state),
        words=visit.texts.templates("enrol-word-"),
        faults=visit.texts.templates("page-enrol-fault-"),
        takes=_takes(run),
        said=_sentence(visit, run),
    )


def command(visit: Visit) -> Reply:
    """Start or cancel an enrolment, or delete the saved one."""
    box = visit.box
    match visit.form.get("do"):
        case "begin":
            box.trying.seen_s = box.now_s()
            if not box.trying.begin_enrolment(box.now_s()):
                return plain(409, visit.texts("page-refused-busy"))
        case "cancel":
            box.trying.enrolment.end("cancelled", box.now_s())
        case "forget":
            box.trying.enrolment.end("cancelled", box.now_s())
            if enrolled_files.forget(box.settings.state_path()):
                return plain(500, visit.texts("page-enrol-left"))
            box.send(OwnerVoiceChanged())
        case _:
            return plain(400, "There is no such form.")
    for message in box.trying.enrolment.pop_messages():
        box.send(message)
    return see_other(PLACE)


def _takes(run: EnrolmentRun) -> list[tuple[str, list[list[str]]]]:
    """For each word and round the result: "accepted", a fault or nothing; preceded by "now" for the
    word that is being asked for."""
    by_word: dict[str, list[list[str]]] = {}
    for at, row in enumerate(run.rows):
        now = run.under_way and run.phase != "learning" and at == run.at
        result = "accepted" if row.accepted else row.fault or ""
        labels = [label for label in ("now" if now else "", result) if label]
        by_word.setdefault(row.word, []).append(labels)
    return list(by_word.items())


def _sentence(visit: Visit, run: EnrolmentRun) -> str:
    """A sentence about the present phase or the result."""
    texts = visit.texts
    if run.phase == "learnt" and run.learnt is not None:
        return texts(
            f"page-enrol-end-{run.learnt.outcome}",
            takes=run.accepted,
            before=round(100 * run.learnt.before),
            after=round(100 * run.learnt.after),
        )
    if run.phase == "refused":
        return texts(f"page-refused-{run.why}")
    if run.under_way and run.phase != "learning":
        word = texts(f"enrol-word-{run.rows[run.at].word}")
        return texts(f"page-enrol-{run.phase}", word=word)
    return "" if run.phase == "never" else texts(f"page-enrol-{run.phase}")
