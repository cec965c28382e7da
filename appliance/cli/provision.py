"""`interlude system begin|grow|setup|page|improv`: commands of the card's units, run at a boot."""

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
from appliance.panel.power_on_hold import REQUEST_FOLDER, WANTED_SETUP
from appliance.provision import growpart, password_words, setup_sentences, submitted_form
from appliance.provision.apply_seed import ProvisionTarget, remove_provisioning
from appliance.provision.first_start import ProvisionResult, provision
from appliance.provision.network_manager import NmcliNetworks
from appliance.provision.seed_files import HOST
from appliance.provision.setup_access import FOLDER
from appliance.provision.setup_changes import BoxChanges
from appliance.provision.setup_invitations import AGAIN_S
from appliance.provision.setup_session import LOOK_S, STARTS_S, SetupSession, insist
from appliance.provision.setup_state import untouched
from appliance.runtime import mdns, status
from appliance.settings import Settings
from appliance.update.handed_over_file import NOTE_BYTES, HandedOverFile, pop_note
from appliance.update.system.block_device import BootDisk

BAD_SEED = "seed-problem"  # in the folder of provision/setup_access.py: why the seed was not used
LOOKED = "looked"  # also there: set-up has run since the boot (/usr/lib/interlude/alone)
NAMED_S = 15.0  # timeout for avahi to find out whether a name is free, once there is an address
TOLD = "reset-told"  # also in that folder: result of a reset, while its request remains
CARD_S = 600.0  # retry delay of a request on a card that cannot be written
SPEECH_S = 60.0  # longest wait for the box to finish speaking before it is restarted


def cli(doing: str, settings: Callable[[], Settings]) -> int:
    match doing:
        case "begin":
            return cli_begin()
        case "grow":
            grown = growpart.grow(growpart.find())
            print("the data partition fills the card now" if grown else "nothing to grow")
        case "page":
            from appliance.provision.setup_server import serve  # imports a server: not at a boot

            serve()
        case "improv":
            from appliance.provision.improv import service  # imports D-Bus, which only it needs

            service.serve()
        case _:
            return cli_setup(settings)
    return 0


def cli_begin(folder: Path = FOLDER) -> int:
    """Make the box's keys and apply the seed on its card. A bad seed only logs a warning: the box
    starts all the same."""
    result = provision(BootDisk(), ProvisionTarget())
    note(result, folder)
    if result.seeded:
        print(f"the card's seed was used and wiped: {', '.join(result.seeded)}")
        if HOST in result.seeded:
            rename(host())
    return 0


def note(result: ProvisionResult, folder: Path) -> None:
    """Log what on the card could not be used, and write it to BAD_SEED for set-up, which says
    it."""
    (folder / BAD_SEED).unlink(missing_ok=True)
    misnamed = setup_sentences.misnamed(result.misnamed, english()) if result.misnamed else ""
    if problem := " ".join(filter(None, [result.problem, misnamed])):
        print(f"<4>The card's seed was not used: {problem}")  # a warning: sd-daemon(3)
        write_whole(folder / BAD_SEED, problem.encode(errors="replace"), lasting=False)


def host() -> str:
    """The configured host name of the box."""
    try:
        return Path("/", HOST).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return socket.gethostname()


def warn(problem: str) -> None:
    print(f"<4>{problem}", flush=True)  # sd-daemon(3)


def rename(name: str) -> None:
    """Set the host name of the running system, and restart avahi, which reads it at its start."""
    for words in (["hostnamectl", "hostname", name],
                  ["systemctl", "--no-block", "try-restart", "avahi-daemon.service"]):  # fmt: skip
        subprocess.run(words, check=False, stdin=subprocess.DEVNULL)


def own_name(radio: NmcliNetworks) -> str:
    """The box's mDNS name; "" if avahi does not report it within NAMED_S."""
    limit_s = time.monotonic() + NAMED_S
    while not (name := mdns.own_name(radio.addresses())) and time.monotonic() < limit_s:
        time.sleep(LOOK_S)
    return name


def cli_setup(
    settings: Callable[[], Settings], folder: Path = FOLDER, request_folder: Path = REQUEST_FOLDER
) -> int:
    """Run set-up, if it is needed or the panel requested it."""
    voice = SetupAnnouncer(settings)
    wanted = pop_request(voice, ProvisionTarget(), folder, request_folder)
    radio = NmcliNetworks()
    looked_file, problem_file = folder / LOOKED, folder / BAD_SEED
    problem = problem_file.read_text(encoding="utf-8") if problem_file.exists() else ""
    language = own_language(settings)
    set_up = SetupSession(
        radio, voice.speak, BoxChanges(ProvisionTarget(), rename, warn), folder, logs=warn,
        own_name=lambda: own_name(radio), host=host, untouched=lambda: untouched(ProvisionTarget()),
        settled=lambda: settled(radio, settings),
        first=not looked_file.exists(),
        card=problem,
        page_uid=pwd.getpwnam(submitted_form.USER).pw_uid, pages=pages(settings),
        password=password_words.password(language), words=catalogue(language),
    )  # fmt: skip
    looked_file.touch()
    if problem and set_up.first:
        set_up.insist(setup_sentences.card_says(problem, english()))
    print(result := set_up.run(asked=bool(wanted)))
    if result == "set up":
        voice.send(Restart())  # so that the new settings take effect
    return 0


def settled(radio: NmcliNetworks, settings: Callable[[], Settings]) -> bool:
    """Whether the box has a Wi-Fi or a broker. Settings that cannot be read may name one."""
    try:
        return bool(radio.known()) or bool(settings().link.broker)
    except InterludeError:
        return True


def pages(settings: Callable[[], Settings]) -> str:
    """Address of the page once the box is in a network (setup_access.SetupAccess)."""
    try:
        return address_of(settings().page)
    except InterludeError:
        return ""


def own_language(settings: Callable[[], Settings]) -> str:
    """Language of the box's own sentences; English if its settings cannot be read."""
    try:
        return settings().own_language
    except InterludeError:
        return SOURCE


def pop_request(
    announcer: SetupAnnouncer,
    target: ProvisionTarget,
    folder: Path,
    request_folder: Path,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Carry out a reset that the panel requested, and delete the request. Returns the request.

    If it cannot be deleted, raises StorageError after CARD_S: as long as the request exists, the
    path unit starts this command again as soon as it ends.
    """
    wanted = read_request(request_folder)
    if wanted == "reset":
        reset(announcer, target, folder)
    # After the reset, so that one that a power cut interrupts is repeated at the next boot.
    try:
        pop_note(request_folder / WANTED_SETUP)
    except StorageError:
        print(f"<3>The request of a {wanted or 'set-up'} cannot be deleted: "
              f"retry in {CARD_S / 60:g} min.")  # fmt: skip
        sleep(CARD_S)
        raise
    (folder / TOLD).unlink(missing_ok=True)
    return wanted


class SetupAnnouncer:
    """Makes the box say a sentence or restart. `read_status`: reads the box's status file."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        read_status: Callable[[], status.SupervisorStatus | None] = status.read_status,
        now_s: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings = settings
        self._read_status = read_status
        self._now_s = now_s
        self._sleep = sleep

    def speak(self, sentence: str) -> bool:
        """Say the sentence. It is not logged: it may contain the set-up Wi-Fi's password. Returns
        whether the box took it."""
        return self.send(Say(sentence, chime=True))

    def send(self, message: Message) -> bool:
        """Send a message to the box. Returns whether the box took it."""
        try:
            tell.send_command(self._settings(), message)
        except InterludeError:  # the box is starting or does not run; its own unit logs why
            return False
        return True

    def restart_after(self, key: str = "") -> None:
        """Restart the box once it has said the sentence of `key` to its end.

        Both the sentence and the restart are retried for STARTS_S while the box does not run. If
        its process changes after it took the sentence, the sentence is sent again.
        """
        limit_s = self._now_s() + STARTS_S
        sentence = catalogue(own_language(self._settings)).say(key) if key else ""
        while sentence and self._now_s() < limit_s:
            if self.speak(sentence):
                pid = self._pid()
                self._wait_for_silence()
                if self._pid() == pid and self.send(Restart()):
                    return
            else:
                self._sleep(AGAIN_S)
        insist(lambda: self.send(Restart()), self._now_s, self._sleep)

    def _wait_for_silence(self) -> None:
        limit_s = self._now_s() + SPEECH_S
        self._sleep(AGAIN_S)  # the status file shows the speech only after a delay
        while (now := self._read_status()) and now.talking and self._now_s() < limit_s:
            self._sleep(LOOK_S)

    def _pid(self) -> int | None:
        now = self._read_status()
        return now.pid if now else None


def reset(announcer: SetupAnnouncer, target: ProvisionTarget, folder: Path = FOLDER) -> None:
    """Delete everything that the last owner configured, then restart the box. An incomplete reset
    is announced.

    On a card that cannot be written the request remains, and this runs again and again. So the
    result is recorded in `folder`, which is in memory: the box is restarted once in each boot, and
    again only if the result differs.
    """
    result_file, result, problem = folder / TOLD, b"complete", ""
    try:
        remove_provisioning(target)
    except StorageError as error:
        result, problem = b"incomplete", error.problem
    if result_file.exists() and result_file.read_bytes() == result:
        return
    if problem:
        print(f"<3>The reset is not complete: {problem}")
    announcer.restart_after("reset-card-incomplete" if problem else "")
    write_whole(result_file, result, lasting=False)


def read_request(request_folder: Path) -> Literal["", "setup", "reset"]:
    """The panel's request; "" if there is none. The file stays (`pop_request` deletes it)."""
    try:
        with HandedOverFile(request_folder / WANTED_SETUP, NOTE_BYTES) as note:
            content = note.read(0, note.size).strip()
    except ReleaseRefused:
        return ""
    return "reset" if content == b"reset" else "setup" if content == b"setup" else ""
