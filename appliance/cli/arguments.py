"""Verbs that may be typed, and their arguments."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.errors import InterludeError
from appliance.runtime.service_account import RunsAs

if TYPE_CHECKING:
    from appliance.settings import Settings

Verb = Callable[[argparse.Namespace], int]

# What a box that runs can be told: verb, its words, what comes of it.
TOLD = (
    ("say", "TEXT", "have the box say a text"),
    ("ask", "TEXT", "ask the box something, as if it had been said"),
    ("stop", "", "end what the box says or thinks"),
    ("mute", "on|off", "switch the box's microphone off, or on again"),
    ("volume", "0-100", "set how loud the box speaks"),
    ("voice", "NAME", "set which of the installed voices speaks"),
    ("mode", "MODE", "set how the box's ear is got: open, push_to_talk or wake_word"),
)


# Of the lab, which is no part of the wheel.
LAB_VERBS = {
    "demo": "play a conversation in a simulated room, and draw it",
    "rehearse": "play scenes in a simulated room, and tell what happened",
    "bench": "measure the figures of the docs here",
}


class NoLab(InterludeError):
    """A verb of the lab, where there is no lab."""

    exit_code = 69  # EX_UNAVAILABLE


class Verbs:
    """Adds verbs to a parser; each takes --settings, before it or after it.

    `runs_as`: as whom they run on a box, but for those that say otherwise.
    """

    def __init__(
        self,
        under: argparse.ArgumentParser,
        common: argparse.ArgumentParser,
        runs_as: RunsAs = "box",
    ) -> None:
        self._parsers = under.add_subparsers(title="verbs", metavar="VERB", required=True)
        self._common = common
        self._runs_as = runs_as

    def add(
        self,
        name: str,
        summary: str,
        act: Verb | None = None,
        more: str = "",
        runs_as: RunsAs | None = None,
    ) -> argparse.ArgumentParser:
        made = self._parsers.add_parser(
            name,
            help=summary,
            description=f"{summary[:1].upper()}{summary[1:]}.",
            epilog=more,
            parents=[self._common],
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        made.set_defaults(act=act, runs_as=runs_as or self._runs_as)
        return made


def told_verbs(verbs: Verbs, tell: Verb) -> None:
    """For a box that runs on this machine."""
    for name, words, summary in TOLD:
        told = verbs.add(name, summary, tell)
        told.set_defaults(verb=name, words=[])
        if words:
            told.add_argument("words", nargs="*" if name == "mute" else "+", metavar=words)


def positive_number(text: str) -> int:
    if not (text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"`{text}` should be a number above 0")
    return int(text)


def lab_verbs(verbs: Verbs, settings: Callable[[argparse.Namespace], Settings]) -> None:
    """Those of the lab, which is in a checkout; elsewhere a sentence says where they are."""
    if importlib.util.find_spec("lab") is not None:
        importlib.import_module("lab.verbs").add_verbs(verbs, settings)
        return
    for name, summary in LAB_VERBS.items():
        verb = verbs.add(name, f"{summary} (in a checkout)", _no_lab, runs_as="caller")
        verb.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def _no_lab(_: argparse.Namespace) -> int:
    raise NoLab(
        "demo, rehearse and bench simulate a room, and are no part of what is installed.",
        "Clone the sources of Interlude and type `make demo` or `make bench` there.",
    )


def enrol_verb(verbs: Verbs, enrol: Verb) -> None:
    """For the owner's own "mm-hm" and "wait"."""
    example = "example:\n  interlude enrol --from my-words   (my-words/mm-hm/*.wav, …/wait/*.wav)"
    asked = verbs.add("enrol", 'teach the box your own "mm-hm" and "wait"', enrol, example)
    asked.add_argument("--from", dest="folder", type=Path, metavar="DIR",
                       help="learn from recordings in folders WORD/*.wav|flac")  # fmt: skip
    asked.add_argument(
        "--takes", type=positive_number, default=4, metavar="N", help="of each word (4)"
    )
    asked.add_argument("--keep", action="store_true", help="keep the recordings on the box too")
    asked.add_argument("--forget", action="store_true", help="forget what was learnt")


def release_verbs(verbs: Verbs, common: argparse.ArgumentParser, release: Verb) -> None:
    """For what is installed on a box."""
    example = "example:\n  interlude release install interlude-0.2.0-aarch64.release"
    under = verbs.add("release", "install releases, list them, and go back", more=example)
    releases = Verbs(under, common, "caller")

    def add(name: str, summary: str) -> argparse.ArgumentParser:
        made = releases.add(name, summary, release)
        made.set_defaults(doing=name)
        return made

    installed = add("install", "check a release, try it, and keep it if it proves well")
    installed.add_argument("file", type=Path, nargs="?", metavar="FILE", help="a .release file")
    installed.add_argument(
        "--wanted", action="store_true", help="install the one that a part of the box asked for"
    )
    installed.add_argument("--downgrade", action="store_true", help="an older one is welcome")
    installed.add_argument(
        "--cold", action="store_true", help="keep it untried: where no box runs, as in an image"
    )
    back = add("rollback", "go back to the release before, if that proves well")
    for waiting in (installed, back):
        waiting.add_argument(
            "--wait", type=int, default=900, metavar="S", help="for a conversation to end (900)"
        )
    asked = add(
        "ask",
        "ask for a release that lies ready; needs no rights, the update service acts",
    )
    asked.add_argument("version", nargs="?", metavar="VERSION", help="which (the newest)")
    pulled = add("pull", "fetch the release that the fleet is to have, and ask for it")
    pulled.add_argument("address", nargs="?", metavar="URL", help="of its sheet (PULL_URL)")
    brought = add("bring", "copy what is newer and signed from a stick to where it lies ready")
    brought.add_argument("folder", type=Path, metavar="DIR", help="of the stick")
    add("list", "list the releases that lie on the box")
    told = add("status", "tell what is kept, what runs, and what could be installed")
    told.add_argument("--json", action="store_true", help="print it as JSON")
    add("selftest", "look whether this release could run here; opens no sound card")


def voice_verbs(verbs: Verbs, common: argparse.ArgumentParser, voices: Verb) -> None:
    """For the programs that speak."""
    example = (
        "example:\n  interlude voices install piper-0.1.0-aarch64.voice\n"
        '  interlude voices say "Good morning." --voice hibari --out morning.wav'
    )
    about = "list the voices, try them, and install their programs"
    under = verbs.add("voices", about, more=example)
    every = Verbs(under, common, "caller")
    listed = every.add("list", "list the voices that are here, and what speaks them", voices)
    listed.set_defaults(doing="list", runs_as="box")
    says = every.add("say", "have a voice say a text into a file", voices)
    says.set_defaults(doing="say")
    says.add_argument("text", metavar="TEXT", help="at most 1,000 characters")
    says.add_argument("--voice", default="auto", metavar="NAME", help="auto: the best that is here")
    says.add_argument("--out", type=Path, required=True, metavar="FILE", help="a WAV file, 16 kHz")
    says.add_argument(
        "--times", type=Path, metavar="FILE", help="JSON: where each word begins and is over"
    )
    installed = every.add("install", "check a voice's program, try it, and keep it", voices)
    installed.set_defaults(doing="install")
    installed.add_argument(
        "file", type=Path, metavar="FILE", help="a .voice file, or a folder with some"
    )
    installed.add_argument(
        "--cold", action="store_true", help="keep it untried: where no box runs, as in an image"
    )
    installed.add_argument("--downgrade", action="store_true", help="an older one is welcome")


def system_verbs(verbs: Verbs, common: argparse.ArgumentParser, system: Verb) -> None:
    """For the two systems of a card of ours."""
    example = "example:\n  interlude system install interlude-0.2.0-aarch64.system"
    under = verbs.add("system", "update the system of a card, and go back", more=example)
    systems = Verbs(under, common, "caller")

    def add(name: str, summary: str, doing: str = "") -> argparse.ArgumentParser:
        made = systems.add(name, summary, system)
        made.set_defaults(doing=doing or name)
        return made

    installed = add("install", "check a system, write it to the other slot, and start it once")
    installed.add_argument("file", type=Path, nargs="?", metavar="FILE", help="a .system file")
    installed.add_argument(
        "--wanted", action="store_true", help="install the one that a part of the box asked for"
    )
    installed.add_argument("--downgrade", action="store_true", help="an older one is welcome")
    installed.add_argument("--later", action="store_true", help="write it, and do not start it yet")
    tried = add("try", "start what lies in the other slot, and keep it if it proves well")
    back = add("rollback", "go back to the system before, if that proves well", "try")
    for waiting in (installed, tried, back):
        waiting.add_argument(
            "--wait", type=int, default=900, metavar="S", help="for a conversation to end (900)"
        )
    add("settle", "keep a system on trial that proves well, leave one that does not; at each start")
    told = add("status", "tell which system runs, which lies in the other slot, what was tried")
    told.add_argument("--json", action="store_true", help="print it as JSON")
    for name, summary in (
        ("begin", "make the box's keys, and use the seed that lies on its card, once"),
        ("grow", "let the data partition fill the card"),
        ("setup", "open a Wi-Fi and a page to set the box up, if it is in no network"),
        ("page", "serve that page, while the box is in set-up"),
        ("improv", "have an app of a phone set the box up by Bluetooth, likewise"),
        ("mdns", "have the page announced in the network, as the settings say"),
        ("models", "have a model fetched or removed, as a part of the box has asked"),
        ("look", "look for a newer version, at its address or on a stick, as the page has asked"),
        ("change", "change the settings as a part of the box has asked"),
        ("network", "enter another Wi-Fi, or another time zone, as the page has asked"),
        ("try-broker", "try the broker that was typed into the page"),
    ):
        add(name, f"{summary}; for the units of a card")
