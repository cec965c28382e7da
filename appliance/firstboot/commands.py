"""`interlude system begin|grow|setup|page`: what the units of a card of ours call at its starts."""

from __future__ import annotations

import pwd
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from appliance.errors import InterludeError, ReleaseRefused, StorageError
from appliance.files import write_whole
from appliance.firstboot import grow, typed
from appliance.firstboot.apply import Ground, apply, forget
from appliance.firstboot.begin import begin
from appliance.firstboot.radio import Radio
from appliance.firstboot.seed import Seed
from appliance.firstboot.serve import FOLDER, serve
from appliance.firstboot.setup import SetUp
from appliance.messages import Message, Restart, Say
from appliance.panel.held import WANTED_SETUP, WISHES
from appliance.release.handed import NOTE_BYTES, Handed, take_note
from appliance.settings import Settings
from appliance.slots.part import DiskCard
from appliance.verbs import tell

BAD_SEED = "seed-problem"  # beside the files of serve.py


def cli(doing: str, settings: Callable[[], Settings]) -> int:
    match doing:
        case "begin":
            return cli_begin()
        case "grow":
            grown = grow.grow(grow.find())
            print("the data partition fills the card now" if grown else "nothing to grow")
        case "page":
            serve()
        case _:
            return cli_setup(settings)
    return 0


def cli_begin(folder: Path = FOLDER) -> int:
    """Keys, and the seed on the card. A bad seed is a warning: the box starts all the same."""
    begun = begin(DiskCard(), Ground())
    (folder / BAD_SEED).unlink(missing_ok=True)
    if begun.problem:
        print(f"<4>The card's seed was not used: {begun.problem}")  # a warning: sd-daemon(3)
        write_whole(folder / BAD_SEED, begun.problem.encode(errors="replace"), lasting=False)
    elif begun.seeded:
        print(f"the card's seed was used and wiped: {', '.join(begun.seeded)}")
        if "etc/hostname" in begun.seeded:
            name = Path("/etc/hostname").read_text(encoding="utf-8").strip()
            subprocess.run(["hostnamectl", "hostname", name], check=False)
    return 0


def cli_setup(
    settings: Callable[[], Settings], folder: Path = FOLDER, wishes: Path = WISHES
) -> int:
    """Set-up, where it is needed or the panel asked for it."""
    voice = Voice(settings)
    wanted = wish(wishes)
    if wanted == "reset":
        reset(voice, Ground())
    # Only now: a reset that the power cut short begins anew at the next start.
    take_note(wishes / WANTED_SETUP)

    def applied(seed: Seed) -> None:
        apply(seed, Ground())

    page_uid = pwd.getpwnam(typed.USER).pw_uid
    set_up = SetUp(Radio(), voice.says, applied, folder, page_uid=page_uid)
    bad = folder / BAD_SEED
    if bad.exists():
        said = bad.read_text(encoding="utf-8")
        set_up.insist(f"What this card says of me cannot be used. {said}")
    print(ended := set_up.run(asked=bool(wanted)))
    if ended == "set up":
        voice.tell(Restart())  # with the settings that were typed
    return 0


class Voice:
    """The box's own."""

    def __init__(self, settings: Callable[[], Settings]) -> None:
        self._settings = settings

    def says(self, sentence: str) -> bool:
        """Aloud, and not into the log: it may hold the set-up Wi-Fi's password."""
        return self.tell(Say(sentence, chime=True))

    def tell(self, message: Message) -> bool:
        """Whether the box took it."""
        try:
            tell.send(self._settings(), message)
        except InterludeError:  # it is starting, or away; the unit of its own says why
            return False
        return True


def reset(voice: Voice, ground: Ground) -> None:
    """Take away what the last owner brought. What could not be taken away is said aloud."""
    try:
        forget(ground)
    except StorageError as error:
        print(f"<3>The reset is not complete: {error.problem}")
        voice.says("Not everything could be taken away from this card. Do not give it away.")
    voice.tell(Restart())


def wish(wishes: Path) -> Literal["", "setup", "reset"]:
    """What the panel has asked for; "" for nothing. The note stays (take_note)."""
    try:
        with Handed(wishes / WANTED_SETUP, NOTE_BYTES) as note:
            said = note.read(0, note.size).strip()
    except ReleaseRefused:
        return ""
    return "reset" if said == b"reset" else "setup" if said == b"setup" else ""
