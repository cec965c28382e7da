"""The command line's parser: verbs and their arguments, without the code that carries them out."""

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

# Commands that are sent to the box that runs on this machine: verb, argument, help.
TOLD = (
    ("say", "TEXT", "make the box say a text"),
    ("ask", "TEXT", "ask the box a question, as if it had been spoken"),
    ("stop", "", "end the answer that the box speaks or prepares"),
    ("mute", "on|off", "switch the box's microphone off, or on again"),
    ("volume", "0-100", "set how loud the box speaks"),
    ("voice", "NAME", "choose one of the installed voices"),
    ("mode", "MODE", "set when the box listens: open (always), push_to_talk or wake_word"),
)

# The verbs of lab/, which is not in the wheel.
LAB_VERBS = {
    "demo": "play a conversation in a simulated room, and draw it as a picture",
    "rehearse": "play scenes in a simulated room, and report what happened",
    "bench": "measure on this machine the figures that the docs give",
}


class NoLab(InterludeError):
    """A verb of lab/ was called where lab/ is not installed."""

    exit_code = 69  # EX_UNAVAILABLE


class Verbs:
    """Adds verbs to a parser. Each accepts --settings before and after the verb.

    `runs_as`: the user that a verb runs as on a box, unless `add` names another.
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
    """Add the verbs that send a command to the box that runs on this machine (TOLD)."""
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
    """Add the verbs of lab/; without a checkout each raises NoLab, which says where they are."""
    if importlib.util.find_spec("lab") is not None:
        importlib.import_module("lab.verbs").add_verbs(verbs, settings)
        return
    for name, summary in LAB_VERBS.items():
        verb = verbs.add(name, f"{summary} (in a checkout)", _no_lab, runs_as="caller")
        verb.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def _no_lab(_: argparse.Namespace) -> int:
    raise NoLab(
        "demo, rehearse and bench simulate a room and are not part of the installed package.",
        "Clone the sources of Interlude and run `make demo` or `make bench` there.",
    )


def enrol_verb(verbs: Verbs, enrol: Verb) -> None:
    """Add `enrol`, which teaches the box the owner's own "mm-hm" and "wait"."""
    example = "example:\n  interlude enrol --from my-words   (my-words/mm-hm/*.wav, …/wait/*.wav)"
    asked = verbs.add("enrol", 'teach the box your own "mm-hm" and "wait"', enrol, example)
    asked.add_argument("--from", dest="folder", type=Path, metavar="DIR",
                       help="learn from recordings in folders WORD/*.wav|flac")  # fmt: skip
    asked.add_argument(
        "--takes", type=positive_number, default=4, metavar="N", help="recordings of each word (4)"
    )
    asked.add_argument("--keep", action="store_true", help="also keep the recordings on the box")
    asked.add_argument("--forget", action="store_true", help="delete what was learnt")


def release_verbs(verbs: Verbs, common: argparse.ArgumentParser, release: Verb) -> None:
    """Add `release` and its verbs: the application's releases on a box."""
    example = "example:\n  interlude release install interlude-0.2.0-aarch64.release"
    under = verbs.add(
        "release", "install and list releases, and go back to the previous one", more=example
    )
    releases = Verbs(under, common, "caller")

    def add(name: str, summary: str) -> argparse.ArgumentParser:
        made = releases.add(name, summary, release)
        made.set_defaults(doing=name)
        return made

    installed = add(
        "install", "verify a release, start it on trial, and keep it if it passes its health check"
    )
    installed.add_argument("file", type=Path, nargs="?", metavar="FILE", help="a .release file")
    installed.add_argument(
        "--wanted",
        action="store_true",
        help="install the one that was requested (by Home Assistant, the page or `ask`)",
    )
    installed.add_argument("--downgrade", action="store_true", help="allow an older version")
    installed.add_argument(
        "--cold",
        action="store_true",
        help="install without a trial, where no box runs, as in an image",
    )
    back = add("rollback", "go back to the previous release, if it passes its health check")
    for waiting in (installed, back):
        waiting.add_argument(
            "--wait",
            type=int,
            default=900,
            metavar="S",
            help="wait at most S seconds for a conversation to end (900)",
        )
    asked = add(
        "ask",
        "request an available release; needs no root rights, the update service installs it",
    )
    asked.add_argument(
        "version", nargs="?", metavar="VERSION", help="which one (default: the newest)"
    )
    pulled = add("pull", "fetch the release that the fleet's sheet names, and request it")
    pulled.add_argument(
        "address", nargs="?", metavar="URL", help="address of the sheet (default: $PULL_URL)"
    )
    brought = add(
        "bring", "copy newer, signed releases from a USB stick, so that they can be requested"
    )
    brought.add_argument("folder", type=Path, metavar="DIR", help="where the stick is mounted")
    add("list", "list the releases on the box")
    told = add("status", "show which release is kept, which runs, and which can be installed")
    told.add_argument("--json", action="store_true", help="print it as JSON")
    add("selftest", "check whether this release can run here; opens no sound card")


def voice_verbs(verbs: Verbs, common: argparse.ArgumentParser, voices: Verb) -> None:
    """Add `voices` and its verbs: the voices and the programs that speak them."""
    example = (
        "example:\n  interlude voices install piper-0.1.0-aarch64.voice\n"
        '  interlude voices say "Good morning." --voice hibari --out morning.wav'
    )
    about = "list voices, try them, and install their programs"
    under = verbs.add("voices", about, more=example)
    every = Verbs(under, common, "caller")
    listed = every.add("list", "list the installed voices and the program of each", voices)
    listed.set_defaults(doing="list", runs_as="box")
    says = every.add("say", "write a text, spoken by a voice, to a file", voices)
    says.set_defaults(doing="say")
    says.add_argument("text", metavar="TEXT", help="at most 1,000 characters")
    says.add_argument(
        "--voice", default="auto", metavar="NAME", help="default: auto, the best one installed"
    )
    says.add_argument("--out", type=Path, required=True, metavar="FILE", help="a WAV file, 16 kHz")
    says.add_argument(
        "--times",
        type=Path,
        metavar="FILE",
        help="also write when each word begins and ends, as JSON",
    )
    installed = every.add("install", "verify a voice's program, try it, and keep it", voices)
    installed.set_defaults(doing="install")
    installed.add_argument(
        "file", type=Path, metavar="FILE", help="a .voice file, or a folder of such files"
    )
    installed.add_argument(
        "--cold",
        action="store_true",
        help="install without a trial, where no box runs, as in an image",
    )
    installed.add_argument("--downgrade", action="store_true", help="allow an older version")


def system_verbs(verbs: Verbs, common: argparse.ArgumentParser, system: Verb) -> None:
    """Add `system` and its verbs: the two system slots of a card, and what its units call."""
    example = "example:\n  interlude system install interlude-0.2.0-aarch64.system"
    under = verbs.add(
        "system", "update the system of a card, and go back to the previous one", more=example
    )
    systems = Verbs(under, common, "caller")

    def add(name: str, summary: str, doing: str = "") -> argparse.ArgumentParser:
        made = systems.add(name, summary, system)
        made.set_defaults(doing=doing or name)
        return made

    installed = add("install", "verify a system, write it to the other slot, and start it on trial")
    installed.add_argument("file", type=Path, nargs="?", metavar="FILE", help="a .system file")
    installed.add_argument(
        "--wanted",
        action="store_true",
        help="install the one that was requested (by Home Assistant, the page or `ask`)",
    )
    installed.add_argument("--downgrade", action="store_true", help="allow an older version")
    installed.add_argument("--later", action="store_true", help="write it without starting it")
    tried = add(
        "try", "start the system in the other slot, and keep it if it passes its health check"
    )
    back = add("rollback", "go back to the previous system, if it passes its health check", "try")
    for waiting in (installed, tried, back):
        waiting.add_argument(
            "--wait",
            type=int,
            default=900,
            metavar="S",
            help="wait at most S seconds for a conversation to end (900)",
        )
    add(
        "settle",
        "at each start: keep a system on trial that passes its health check, else leave it",
    )
    told = add("status", "show which system runs, which is in the other slot, and the last trial")
    told.add_argument("--json", action="store_true", help="print it as JSON")
    for name, summary in (
        ("begin", "make the box's keys and apply the seed on its card, once"),
        ("grow", "grow the data partition to the size of the card"),
        ("setup", "open the set-up Wi-Fi and its page, if the box has no network"),
        ("page", "serve the set-up page while the set-up Wi-Fi is open"),
        ("improv", "accept set-up by a phone's app over Bluetooth, if the box has no network"),
        ("mdns", "announce the page in the network (mDNS), as the settings say"),
        ("models", "fetch or remove a model, as the page requested"),
        ("look", "look for a newer version, at its address or on a stick, as the page requested"),
        ("change", "change the settings, as the page or Home Assistant requested"),
        ("network", "join another Wi-Fi or set the time zone, as the page requested"),
        ("try-broker", "test the MQTT broker that was entered on the page"),
    ):
        add(name, f"{summary}; for the units of a card")
