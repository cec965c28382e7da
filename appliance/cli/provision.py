"""`interlude system begin|grow|setup|page|improv`: what the units of a card call at its starts."""

from __future__ import annotations

import pwd
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from appliance.atomic_file import write_whole
from appliance.cli import tell
from appliance.errors import InterludeError, ReleaseRefused, StorageError
from appliance.language.catalogue import SOURCE, catalogue, english
from appliance.messages.commands import Restart, Say
from appliance.messages.registry import Message
from appliance.page.announcement import address_of
from appliance.panel.power_on_hold import WANTED_SETUP, WISHES
from appliance.provision import growpart, password_words, setup_sentences, submitted_form
from appliance.provision.apply_seed import ProvisionTarget, remove_provisioning
from appliance.provision.first_start import ProvisionResult, provision
from appliance.provision.network_manager import NmcliNetworks
from appliance.provision.seed_files import HOST
from appliance.provision.setup_changes import BoxChanges
from appliance.provision.setup_server import FOLDER, serve
from appliance.provision.setup_session import AGAIN_S, LOOK_S, STARTS_S, SetupSession, insist
from appliance.provision.setup_state import untouched
from appliance.runtime import mdns, status
from appliance.settings import Settings
from appliance.update.handed_over_file import NOTE_BYTES, HandedOverFile, pop_note
from appliance.update.system.block_device import BootDisk

BAD_SEED = "seed-problem"  # beside the files of provision/setup_server.py
LOOKED = "looked"  # there too: set-up has run since the start (/usr/lib/interlude/alone)
NAMED_S = 15.0  # after an address came, until avahi has found out whether a name is free
TOLD = "reset-told"  # there too: how the reset ended that was told of, while its note remains
CARD_S = 600.0  # before what was asked for is tried again on a card that cannot be written
SPEECH_S = 60.0  # the longest wait for the box to end what it says before it starts anew


def cli(doing: str, settings: Callable[[], Settings]) -> int:
    match doing:
        case "begin":
            return cli_begin()
        case "grow":
            grown = growpart.grow(growpart.find())
            print("the data partition fills the card now" if grown else "nothing to grow")
        case "page":
            serve()
        case "improv":
            from appliance.provision.improv import service  # D-Bus: the others do without

            service.serve()
        case _:
            return cli_setup(settings)
    return 0


def cli_begin(folder: Path = FOLDER) -> int:
    """Keys, and the seed on the card. A bad seed is a warning: the box starts all the same."""
    begun = provision(BootDisk(), ProvisionTarget())
    note(begun, folder)
    if begun.seeded:
        print(f"the card's seed was used and wiped: {', '.join(begun.seeded)}")
        if HOST in begun.seeded:
            rename(host())
    return 0


def note(begun: ProvisionResult, folder: Path) -> None:
    """Into the log, and for set-up, which says it: what on the card could not be used."""
    (folder / BAD_SEED).unlink(missing_ok=True)
    other = setup_sentences.misnamed(begun.misnamed, english()) if begun.misnamed else ""
    if problem := " ".join(filter(None, [begun.problem, other])):
        print(f"<4>The card's seed was not used: {problem}")  # a warning: sd-daemon(3)
        write_whole(folder / BAD_SEED, problem.encode(errors="replace"), lasting=False)


def host() -> str:
    """The name that the box is to have in its network."""
    try:
        return Path("/", HOST).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return socket.gethostname()


def warn(problem: str) -> None:
    print(f"<4>{problem}", flush=True)  # sd-daemon(3)


def rename(name: str) -> None:
    """The running system, too, and avahi, which reads the name when it starts."""
    for words in (["hostnamectl", "hostname", name],
                  ["systemctl", "--no-block", "try-restart", "avahi-daemon.service"]):  # fmt: skip
        subprocess.run(words, check=False, stdin=subprocess.DEVNULL)


def own_name(radio: NmcliNetworks) -> str:
    """As others find the box in its network; "" if avahi does not say within NAMED_S."""
    limit_s = time.monotonic() + NAMED_S
    while not (name := mdns.own_name(radio.addresses())) and time.monotonic() < limit_s:
        time.sleep(LOOK_S)
    return name


def cli_setup(
    settings: Callable[[], Settings], folder: Path = FOLDER, wishes: Path = WISHES
) -> int:
    """Set-up, where it is needed or the panel asked for it."""
    voice = SetupAnnouncer(settings)
    wanted = pop_request(voice, ProvisionTarget(), folder, wishes)
    radio = NmcliNetworks()
    looked, bad = folder / LOOKED, folder / BAD_SEED
    problem = bad.read_text(encoding="utf-8") if bad.exists() else ""
    language = own_language(settings)
    set_up = SetupSession(
        radio, voice.speak, BoxChanges(ProvisionTarget(), rename, warn), folder, logs=warn,
        own_name=lambda: own_name(radio), host=host, untouched=lambda: untouched(ProvisionTarget()),
        first=not looked.exists(),
        card=problem,
        page_uid=pwd.getpwnam(submitted_form.USER).pw_uid, pages=pages(settings),
        password=password_words.password(language), words=catalogue(language),
    )  # fmt: skip
    looked.touch()
    if problem and set_up.first:
        set_up.insist(setup_sentences.card_says(problem, english()))
    print(ended := set_up.run(asked=bool(wanted)))
    if ended == "set up":
        voice.send(Restart())  # with the settings that were typed
    return 0


def pages(settings: Callable[[], Settings]) -> str:
    """Where the page is once the box is in a network (setup_server.SetupAccess)."""
    try:
        return address_of(settings().page)
    except InterludeError:
        return ""


def own_language(settings: Callable[[], Settings]) -> str:
    """Of what the box says by itself; English where its settings cannot be read."""
    try:
        return settings().own_language
    except InterludeError:
        return SOURCE


def pop_request(
    voice: SetupAnnouncer,
    ground: ProvisionTarget,
    folder: Path,
    wishes: Path,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """What the panel has asked for, with a reset carried out and the note taken away.

    Raises StorageError where it cannot be, after CARD_S: with the note there, the path unit starts
    this again as soon as it ends.
    """
    wanted = read_request(wishes)
    if wanted == "reset":
        reset(voice, ground, folder)
    # Only now: a reset that the power cut short begins anew at the next start.
    try:
        pop_note(wishes / WANTED_SETUP)
    except StorageError:
        print(f"<3>The note of a {wanted or 'set-up'} remains: again in {CARD_S / 60:g} min.")
        sleep(CARD_S)
        raise
    (folder / TOLD).unlink(missing_ok=True)
    return wanted


class SetupAnnouncer:
    """The box's own. `stands`: what its status file says."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        stands: Callable[[], status.SupervisorStatus | None] = status.read_status,
        now_s: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings = settings
        self._stands = stands
        self._now_s = now_s
        self._sleep = sleep

    def speak(self, sentence: str) -> bool:
        """Aloud, and not into the log: it may hold the set-up Wi-Fi's password."""
        return self.send(Say(sentence, chime=True))

    def send(self, message: Message) -> bool:
        """Whether the box took it."""
        try:
            tell.send_command(self._settings(), message)
        except InterludeError:  # it is starting, or away; the unit of its own says why
            return False
        return True

    def restart_after(self, key: str = "") -> None:
        """Have the box start anew, once the sentence of `key` has been said in full.

        A box that is away is waited for, STARTS_S for each of the two. One that ends after it took
        the sentence has not said it: the one after it is told again.
        """
        limit_s = self._now_s() + STARTS_S
        sentence = catalogue(own_language(self._settings)).say(key) if key else ""
        while sentence and self._now_s() < limit_s:
            if self.speak(sentence):
                told = self._pid()
                self._wait_for_silence()
                if self._pid() == told and self.send(Restart()):
                    return
            else:
                self._sleep(AGAIN_S)
        insist(lambda: self.send(Restart()), self._now_s, self._sleep)

    def _wait_for_silence(self) -> None:
        limit_s = self._now_s() + SPEECH_S
        self._sleep(AGAIN_S)  # until the status file says that it speaks
        while (now := self._stands()) and now.talking and self._now_s() < limit_s:
            self._sleep(LOOK_S)

    def _pid(self) -> int | None:
        now = self._stands()
        return now.pid if now else None


def reset(voice: SetupAnnouncer, ground: ProvisionTarget, folder: Path = FOLDER) -> None:
    """Take away what the last owner brought. What could not be taken away is said aloud.

    On a card that cannot be written the note remains, and this runs again and again: the box is
    told once in each start of the machine (`folder` is in memory), and again if it ended otherwise.
    """
    told, ended, problem = folder / TOLD, b"complete", ""
    try:
        remove_provisioning(ground)
    except StorageError as error:
        ended, problem = b"incomplete", error.problem
    if told.exists() and told.read_bytes() == ended:
        return
    if problem:
        print(f"<3>The reset is not complete: {problem}")
    voice.restart_after("reset-card-incomplete" if problem else "")
    write_whole(told, ended, lasting=False)


def read_request(wishes: Path) -> Literal["", "setup", "reset"]:
    """What the panel has asked for; "" for nothing. The note stays (take_note)."""
    try:
        with HandedOverFile(wishes / WANTED_SETUP, NOTE_BYTES) as note:
            said = note.read(0, note.size).strip()
    except ReleaseRefused:
        return ""
    return "reset" if said == b"reset" else "setup" if said == b"setup" else ""
