"""The language of the pocket model: requests with their wrappers, and sentences outside the table.

In: requests.yaml, answers.yaml, out_of_domain.yaml and a seeded generator. Out: (text, name of the
answer) pairs.
"""

import re
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import yaml

HERE = Path(__file__).parent
UNKNOWN, ASKED_BACK = "not_understood", "timer"
CALL = "<|tool_call>"  # an answer that starts with it is a tool call and is not spoken
BEFORE = (
    """
wait, no, no wait, wait no, hold on, okay, actually, please, hey, interlude, hey interlude,
hello, so, and, now, well, um, oh, sorry, stop, okay interlude, yes
""".replace("\n", " ")
    .strip()
    .split(", ")
)
ASKING = (
    """
can you, could you, will you, would you, please, can you please, now, i want you to
""".replace("\n", " ")
    .strip()
    .split(", ")
)
AFTER = (
    """
please, instead, now, then, again, interlude, today, for me, please interlude, thank you
""".replace("\n", " ")
    .strip()
    .split(", ")
)
ORDERS = """
tell talk read explain play put turn switch set start sing say count give recommend make repeat
continue stop be go cancel forget remind
""".split()
STEERING = """
stop never_mind quiet wait go_on yes no okay sorry hello goodbye thanks good_morning good_evening
good_night well_done
""".split()
Table = dict[str, list[str]]


@cache
def out_of_domain() -> Table:
    """The lists and templates of sentences outside the table."""
    lists: Table = yaml.safe_load((HERE / "out_of_domain.yaml").read_text())
    return lists


def requests() -> Table:
    return dict(_loaded("requests.yaml"))


def answers() -> dict[str, str]:
    return {k: " ".join(v.split()) for k, v in _loaded("answers.yaml").items()}


@cache
def _loaded(name: str) -> dict[str, Any]:
    """A table beside this module."""
    table: dict[str, Any] = yaml.safe_load((HERE / name).read_text())
    return table


@cache
def calls() -> tuple[str, ...]:
    """The names whose answer is a tool's call."""
    return tuple(name for name, answer in answers().items() if answer.startswith(CALL))


def wrap(text: str, name: str, r: Random) -> str:
    """One request in one of many wordings; a comma is a short pause."""
    if name in STEERING:
        if r.random() < 0.25:
            text = f"{text}{r.choice(['', ','])} {r.choice(['interlude', 'please', 'now'])}"
        return (
            f"{r.choice(['okay', 'hey', 'interlude', 'please', 'oh'])}, {text}"
            if r.random() < 0.15
            else text
        )
    if text.split()[0] in ORDERS and r.random() < 0.3:
        text = f"{r.choice(ASKING)} {text}"
    if r.random() < 0.3:
        text = f"{text}{r.choice(['', '', ','])} {r.choice(AFTER)}"
    if r.random() < 0.45:
        text = f"{r.choice(BEFORE)}{r.choice(['', ',', ',', '...'])} {text}"
    return text


def request(table: Table, r: Random) -> tuple[str, str]:
    name = r.choice(list(table))
    return wrap(r.choice(table[name]), name, r), name


def tool_request(table: Table, r: Random) -> tuple[str, str]:
    """A request for a tool, or for a timer without a length; phrasings are equally likely."""
    name, text = r.choice([(n, text) for n in (*calls(), ASKED_BACK) for text in table[n]])
    return wrap(text, name, r), name


def unknown(table: Table, r: Random) -> tuple[str, str]:
    """A sentence that is no request; one that equals a request of the table is drawn again."""
    known = {p for phrasings in table.values() for p in phrasings}
    lists = out_of_domain()
    while True:
        template = r.choice(lists["near" if r.random() < 0.5 else "far"])
        text = re.sub(r"{(\w+)}", lambda place: r.choice(lists[place[1]]), template)
        if text not in known:
            return (wrap(text, UNKNOWN, r) if r.random() < 0.4 else text), UNKNOWN
