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
        verb = self._parsers.add_parser(
            name,
            help=summary,
            description=f"{summary[:1].upper()}{summary[1:]}.",
            epilog=more,
            parents=[self._common],
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        verb.set_defaults(act=act, runs_as=runs_as or self._runs_as)
        return verb


def told_verbs(verbs: Verbs, command: Verb) -> None:
    """Add the verbs that send a command to the box that runs on this machine (TOLD)."""
    for name, words, summary in TOLD:
        verb = verbs.add(name, summary, command)
        verb.set_defaults(verb=name, words=[])
        if words:
            verb.add_argument("words", nargs="*" if name == "mute" else "+", metavar=words)


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
    verb = verbs.add("enrol", 'teach the box your own "mm-hm" and "wait"', enrol, example)
    verb.add_argument("--from", dest="folder", type=Path, metavar="DIR",
                       help="learn from recordings in folders WORD/*.wav|flac")  # fmt: skip
    verb.add_argument(
        "--takes", type=positive_number, default=4, metavar="N", help="recordings of each word (4)"
    )
    verb.add_argument("--keep", action="store_true", help="also keep the recordings on the box")
    verb.add_argument("--forget", action="store_true", help="delete what was learnt")


def _add_archive(verb: argparse.ArgumentParser, suffix: str) -> None:
    """Add the arguments that choose what is installed: a file, or what was requested."""
    verb.add_argument("file", type=Path, nargs="?", metavar="FILE", help=f"a {suffix} file")
    verb.add_argument(
        "--wanted", action="store_true", help="install what Home Assistant or the page requested"
    )
    verb.add_argument("--downgrade", action="store_true", help="allow an older version")


def _add_downgrade(verb: argparse.ArgumentParser) -> None:
    """Add --downgrade to a verb that goes back."""
    verb.add_argument(
        "--downgrade",
        action="store_true",
        help="also to a version that a security update forbids, or whose key is trusted no more",
    )


def _add_wait(verb: argparse.ArgumentParser) -> None:
    """Add --wait: how long the verb waits for the end of a conversation."""
    verb.add_argument(
        "--wait",
        type=int,
        default=900,
        metavar="S",
        help="wait at most S seconds for a conversation to end (900)",
    )


def release_verbs(verbs: Verbs, common: argparse.ArgumentParser, release: Verb) -> None:
    """Add `release` and its verbs: the application's releases on a box."""
    example = "example:\n  interlude release install interlude-0.2.0-aarch64.release"
    under = verbs.add(
        "release", "install and list releases, and go back to the previous one", more=example
    )
    releases = Verbs(under, common, "caller")

    def add(name: str, summary: str) -> argparse.ArgumentParser:
        verb = releases.add(name, summary, release)
        verb.set_defaults(doing=name)
        return verb

    install_command = add(
        "install", "verify a release, start it on trial, and keep it if it passes its health check"
    )
    _add_archive(install_command, ".release")
    install_command.add_argument(
        "--cold",
        action="store_true",
        help="install without a trial, where no box runs, as in an image",
    )
    rollback_command = add(
        "rollback", "go back to the previous release, if it passes its health check"
    )
    _add_downgrade(rollback_command)
    for waiting in (install_command, rollback_command):
        _add_wait(waiting)
    ask_command = add(
        "ask",
        "request an available release; needs no root rights, the update service installs it",
    )
    ask_command.add_argument(
        "version", nargs="?", metavar="VERSION", help="which one (default: the newest)"
    )
    pull_command = add("pull", "fetch the release that the fleet's sheet names, and request it")
    pull_command.add_argument(
        "address", nargs="?", metavar="URL", help="address of the sheet (default: $PULL_URL)"
    )
    bring_command = add(
        "bring", "copy newer, signed releases from a USB stick, so that they can be requested"
    )
    bring_command.add_argument(
        "folder", type=Path, metavar="DIR", help="where the stick is mounted"
    )
    add("list", "list the releases on the box")
    status_command = add(
        "status", "show which release is kept, which runs, and which can be installed"
    )
    status_command.add_argument("--json", action="store_true", help="print it as JSON")
    add("selftest", "check whether this release can run here; opens no sound card")


def voice_verbs(verbs: Verbs, common: argparse.ArgumentParser, voices: Verb) -> None:
    """Add `voices` and its verbs: the voices and the programs that speak them."""
    example = (
        "example:\n  interlude voices install piper-0.1.0-aarch64.voice\n"
        '  interlude voices say "Good morning." --voice hibari --out morning.wav'
    )
    about = "list voices, try them, and install their programs"
    under = verbs.add("voices", about, more=example)
    commands = Verbs(under, common, "caller")
    list_command = commands.add("list", "list the installed voices and the program of each", voices)
    list_command.set_defaults(doing="list", runs_as="box")
    say_command = commands.add("say", "write a text, spoken by a voice, to a file", voices)
    say_command.set_defaults(doing="say")
    say_command.add_argument("text", metavar="TEXT", help="at most 1,000 characters")
    say_command.add_argument(
        "--voice", default="auto", metavar="NAME", help="default: auto, the best one installed"
    )
    say_command.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="a WAV file, 16 kHz"
    )
    say_command.add_argument(
        "--times",
        type=Path,
        metavar="FILE",
        help="also write when each word begins and ends, as JSON",
    )
    install_command = commands.add(
        "install", "verify a voice's program, try it, and keep it", voices
    )
    install_command.set_defaults(doing="install")
    install_command.add_argument(
        "file", type=Path, metavar="FILE", help="a .voice file, or a folder of such files"
    )
    install_command.add_argument(
        "--cold",
        action="store_true",
        help="install without a trial, where no box runs, as in an image",
    )
    install_command.add_argument("--downgrade", action="store_true", help="allow an older version")


def system_verbs(verbs: Verbs, common: argparse.ArgumentParser, system: Verb) -> None:
    """Add `system` and its verbs: the two system slots of a card, and what its units call."""
    example = "example:\n  interlude system install interlude-0.2.0-aarch64.system"
    under = verbs.add(
        "system", "update the system of a card, and go back to the previous one", more=example
    )
    systems = Verbs(under, common, "caller")

    def add(name: str, summary: str, doing: str = "") -> argparse.ArgumentParser:
        verb = systems.add(name, summary, system)
        verb.set_defaults(doing=doing or name)
        return verb

    install_command = add(
        "install", "verify a system, write it to the other slot, and start it on trial"
    )
    _add_archive(install_command, ".system")
    install_command.add_argument(
        "--later", action="store_true", help="write it without starting it"
    )
    try_command = add(
        "try", "start the system in the other slot, and keep it if it passes its health check"
    )
    rollback_command = add(
        "rollback", "go back to the previous system, if it passes its health check", "try"
    )
    for returning in (try_command, rollback_command):
        _add_downgrade(returning)
    for waiting in (install_command, try_command, rollback_command):
        _add_wait(waiting)
    add(
        "settle",
        "at each start: keep a system on trial that passes its health check, else leave it",
    )
    status_command = add(
        "status", "show which system runs, which is in the other slot, and the last trial"
    )
    status_command.add_argument("--json", action="store_true", help="print it as JSON")
    for name, summary in (
        ("begin", "make the box's keys and apply the seed on its card, once"),
        ("grow", "grow the data partition to the size of the card"),
        ("setup", "open the set-up Wi-Fi and its page, if the box has no network"),
        ("page", "serve the set-up page while the set-up Wi-Fi is open"),
        ("improv", "accept set-up by a phone's app over Bluetooth, if the box has no network"),
        ("mdns", "announce the page in the network (mDNS), as the settings say"),
        ("models", "fetch or remove a model, as the page requested"),
        ("accept", "verify the models that were fetched, and make them root's"),
        ("look", "look for a newer version, at its address or on a stick, as the page requested"),
        ("change", "change the settings, as the page or Home Assistant requested"),
        ("network", "join another Wi-Fi or set the time zone, as the page requested"),
        ("try-broker", "test the MQTT broker that was entered on the page"),
    ):
        add(name, f"{summary}; for the units of a card")
