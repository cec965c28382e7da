"""Every view of the page in the states that users see: the state of the box, the path, and the
user's action."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from appliance.background_file import write_private
from appliance.dialog.memory import Memory, RememberedTurn
from appliance.language.catalogue import BoxSentence
from appliance.messages.commands import BoxStatus, StateChanged
from appliance.messages.enrolling import AskTake, EnrolmentLearnt, TakeFault, TakeJudged
from appliance.messages.hearing import Onset, Opinion, Verdict, WakeNearMiss
from appliance.messages.playback import PlaybackPaused, PlaybackStarted, PlaybackStopped
from appliance.messages.registry import Message
from appliance.messages.speech import Spoken
from appliance.messages.tools import ShownTimer, TimersList
from appliance.messages.trying import (
    EchoBand,
    EchoMeasured,
    SoundRecorded,
    SoundRecording,
    TrialKind,
    TrialRefused,
)
from appliance.messages.viewing import SoundLevels
from appliance.models.model_request import ModelRequest
from appliance.page.backup_file import Backup, BackupTurn, pack
from appliance.pcm import RATE_HZ
from appliance.runtime import enrolled_files, memory_files, restore_files
from appliance.runtime.handed_request import new_id
from appliance.runtime.restore_files import RestoreOutcome
from appliance.settings.network_change import NetworkChange
from appliance.update.release.look_record import LookReporter, mark
from appliance.update.request import PROGRESS, InstallProgress
from appliance.update.system.slot_state import (
    SlotStateFile,
    SlotTrial,
    SlotTrialResult,
)
from tests.page.desk import Desk, runs_from_slot_b
from tests.page.pairing_states import (
    hears,
    hears_and_presses,
    interrupts,
    is_night,
    wants_printed,
)
from tests.page.test_findings import FOUND, FULL
from tests.page.test_on_backup import add_owner_data, form, upload
from tests.update.release.workshop import bench

Prepare = Callable[[Desk], object]
LOUD, QUIET = (-12,) * 5, (-70,) * 5
BACKUP = Backup(1.8e9, "0.1.0", "Attic", (BackupTurn("2026", 1, "", 1.0, "Yes.", True),), ())


def submit(form: str, **fields: str) -> str:
    """A script that fills in a form and submits it without the browser's validation."""
    typed = "".join(
        f"f.elements[{json.dumps(name)}].value = {json.dumps(value)};"
        for name, value in fields.items()
    )
    return (
        f"(() => {{ const f = document.querySelector({json.dumps(form)}); {typed} f.submit() }})()"
    )


def set_there(field: str, value: str) -> str:
    """A script that changes a field of the live view and waits for the result. It also sets options
    that are disabled, as an outdated page could."""
    return f"""(() => {{ const field = document.querySelector("#{field}");
      for (const one of field.options ?? []) one.disabled = false;
      field.value = "{value}";
      field.dispatchEvent(new Event("change"));
      new MutationObserver(() => {{ delete document.body.dataset.old }}).observe(
        document.querySelector("#told"), {{ childList: true }}) }})()"""


@dataclass(frozen=True)
class View:
    """`prepare`: sets the state of the box. `act`: a script, after which the page contains `shows`.
    `then`: what the box does after it; the page is loaded anew.
    `stranger`: the browser is not paired. `handed`: an appliance, not a development clone."""

    name: str
    path: str
    prepare: Prepare = lambda _: None
    act: str = ""
    shows: str = ""
    then: Prepare | None = None
    stranger: bool = False
    handed: bool = False


def _tell(desk: Desk, *messages: Message) -> None:
    for message in messages:
        desk.box.model.handle(message, desk.now_s)
        desk.box.trying.handle(message, desk.now_s)


def talks(desk: Desk) -> None:
    """An answer that the owner interrupts."""
    at = round(desk.now_s * RATE_HZ)
    _tell(
        desk,
        StateChanged("speaking", 3, round(desk.now_s * 1e9)),
        PlaybackStarted(3, at - 32_000),
        Spoken(3, 0, 0, 96_000, 5.0),
        *(SoundLevels(at - 32_000 + n * 3200, QUIET, LOUD) for n in range(8)),
        Onset(7, at - 6400, speaking=True),
        PlaybackPaused(3, 7, 25_600, at - 5920),
        Opinion(7, 300, 0.05, 0.91, 0.04),
        Verdict(7, "interruption", 300),
        PlaybackStopped(3, 25_600, at - 1000),
    )


def is_ill(desk: Desk) -> None:
    status = BoxStatus("open", True, 0.8, "espeak", "pocket", broken=("the microphone",))
    _tell(desk, StateChanged("muted", 3, round(desk.now_s * 1e9)), status)


def wants_wake_word(desk: Desk) -> None:
    _tell(desk, BoxStatus("wake_word", False, 0.8, "espeak", "pocket"))
    now = round(desk.now_s * RATE_HZ)
    for ago, score, needed in ((90, 0.71, 1.2), (30, 0.42, 3.0)):
        desk.box.trying.handle(WakeNearMiss(now - ago * RATE_HZ, score, 0.9, needed), desk.now_s)


def checked(desk: Desk) -> None:
    desk.box.trying.check.begin(desk.now_s)
    found = [*FOUND, msgspec.to_builtins(FULL)]
    desk.box.trying.check.finish(json.dumps(found).encode())


def tries(kind: TrialKind, told: Callable[[int], Message] | None = None) -> Prepare:
    def prepare(desk: Desk) -> None:
        wanted = desk.box.trying.sound.begin(kind, desk.now_s)
        assert wanted is not None
        if told is not None:
            desk.box.trying.handle(told(wanted.number), desk.now_s)

    return prepare


def recorded(number: int) -> Message:
    return SoundRecorded(number, 0.0, -9.0, -50.0, -70.0, 400, 6.0, played=False)


def measured(number: int) -> Message:
    bands = (EchoBand(125, 500, -30.0, -56.0, -70.0), EchoBand(500, 1000, -40.0, -62.0, -75.0))
    return EchoMeasured(number, bands, 7.2, 1, 0, "works")


def has_results(desk: Desk) -> None:
    checked(desk)
    wants_wake_word(desk)
    tries("microphone", recorded)(desk)


def has_timers(desk: Desk) -> None:
    due = time.time() + 3723
    _tell(
        desk,
        TimersList((
            ShownTimer(4, False, "potatoes in the oven", due, 7200.0),
            ShownTimer(7, True, "", due + 90_000),
            ShownTimer(8, False, "eggs", 0.0, 300.0, ringing=True),
        )),
    )  # fmt: skip


def remembers(desk: Desk) -> None:
    memory = Memory(memory_files.path(desk.box.settings), 1000)
    for number in range(25):
        memory.remember(
            RememberedTurn(
                "2026-11-22T10:00:00+01:00", number, "", 2.0, "The sea is wide.", number % 3 > 0,
                "m", "tell me about the sea" if number % 2 else "",
            )
        )  # fmt: skip
    memory.close()


def enrols(*faults: TakeFault | None) -> Prepare:
    """An enrolment with takes of these faults, waiting for the next one."""

    def prepare(desk: Desk) -> None:
        trying = desk.box.trying
        trying.begin_enrolment(desk.now_s)
        for fault in faults:
            asked = [one for one in trying.enrolment.pop_messages() if isinstance(one, AskTake)][-1]
            for told in (
                SoundRecording(asked.number, on=True),
                TakeJudged(asked.number, asked.take, fault),
            ):
                trying.enrolment.handle(told, desk.now_s)

    return prepare


def has_enrolled(desk: Desk) -> None:
    write_private(desk.box.settings.state_path() / enrolled_files.FILE, b"numbers")
    trying = desk.box.trying
    trying.begin_enrolment(desk.now_s)
    learnt = EnrolmentLearnt(trying.enrolment.number, "kept", 0.5, 0.917)
    trying.enrolment.handle(learnt, desk.now_s)


def has_files(desk: Desk) -> None:
    add_owner_data(desk)
    desk.box.places.warnings.write_text("box interlude[1]: the card hw:1 is gone\n" * 40)


def brings_backup(desk: Desk) -> None:
    """A backup that is uploaded and checked, and not restored yet."""
    reply = upload(desk, form(desk.token, pack(BACKUP)))
    assert reply is not None, reply
    assert reply.status == 303, reply


def was_restored(desk: Desk) -> None:
    state = desk.box.settings.state_path()
    made = RestoreOutcome(1.8e9, {"memory": "put", "timers": "put"})
    (state / restore_files.OUTCOME).write_bytes(msgspec.json.encode(made))
    (state / "settings.yaml").write_text("link: {name: Attic}\n")


def was_not_restored(desk: Desk) -> None:
    state = desk.box.settings.state_path()
    made = RestoreOutcome(1.8e9, {}, False, "x", "page-wrong-general-storage")
    (state / restore_files.OUTCOME).write_bytes(msgspec.json.encode(made))


def fetches(desk: Desk) -> None:
    desk.box.model_changes.ask(ModelRequest(new_id(), "fetch", "gemma-4-e2b"))


def enters_wifi(desk: Desk) -> None:
    desk.box.machine.network.ask(NetworkChange(new_id(), "wifi", "Home", "correct staple"))


def progress(found: InstallProgress) -> Prepare:
    def prepare(desk: Desk) -> None:
        folder = desk.box.places.trial
        folder.mkdir(parents=True, exist_ok=True)
        (folder / PROGRESS).write_bytes(msgspec.json.encode(found))

    return prepare


def has_releases(desk: Desk) -> None:
    """Two releases installed one after the other, and a third one ready to install."""
    home = Path(desk.box.settings.state_dir)
    made = bench(home)
    for version in ("0.2.0", "0.3.0"):
        made.installer().install(made.shop.make(version))
    desk.box.places.incoming.mkdir(exist_ok=True)
    shutil.copy(made.shop.make("0.4.0"), desk.box.places.incoming)


def is_card(desk: Desk) -> None:
    """A card with a previous system, an update address, and the results of the last checks."""
    has_releases(desk)
    places = desk.box.places
    for folder in (places.looked, places.changed, desk.box.look_changes.wanted):
        folder.mkdir(exist_ok=True)
    places.pull.touch()
    slot_state = runs_from_slot_b(desk)
    with slot_state.locked():
        values: dict[str, str | int | float] = {"version": "0.1.9"}
        slot_state.note(SlotTrialResult("0.1.9", "x", "page-wrong-system-not-up", values))
    LookReporter("web", places.looked).over(
        BoxSentence.of("page-look-none", kept="0.3.0", there="0.3.0")
    )
    LookReporter("stick", places.looked).over(BoxSentence.of("page-look-stick-none"))


def looks(desk: Desk) -> None:
    """A card that downloads from its address and waits for a USB stick."""
    is_card(desk)
    LookReporter("web", desk.box.places.looked).fetches("0.4.0")
    mark("stick", desk.box.places.changed).touch()


def tries_system(desk: Desk) -> None:
    is_card(desk)
    SlotStateFile(desk.box.places.releases / "system").begin_trial(SlotTrial("a", "0.1.0"))


def has_passphrase(desk: Desk) -> None:
    desk.box.access.set_passphrase("blue kettle")


def has_many_browsers(desk: Desk) -> None:
    for name in ("Safari, iPhone", "Samsung Internet, Android", "Firefox, Linux"):
        desk.box.access.let_in(name)


def is_misspelt(desk: Desk) -> None:
    (Path(desk.box.settings.state_dir) / "settings.yaml").write_text("mode: 7\n")


# opens every folded section that links to no other page
OPEN = (
    "document.querySelectorAll('details').forEach(one => one.open = true);"
    "delete document.body.dataset.old"
)
NAMED = 'form[action="/pair"]'
ASKS_CODE, ASKS_BUTTON = submit('form[action="/pair/code"]'), submit('form[action="/pair/button"]')
VIEWS = (
    View("stranger", "/", stranger=True),
    View("stranger-code", "/pair", has_passphrase, ASKS_CODE, "said the digits", stranger=True),
    View("stranger-wrong", "/pair", wants_printed, submit(NAMED, code="111111"),
         "That is not right", stranger=True),
    View("stranger-night", "/pair", is_night, ASKS_BUTTON, "At night (22:00", stranger=True),
    View("stranger-button", "/", act=ASKS_BUTTON, shows="Listen to the end", stranger=True),
    View("stranger-heard", "/", act=ASKS_BUTTON, then=hears, shows="press its button now",
         stranger=True),
    View("stranger-unheard", "/", act=ASKS_BUTTON, then=interrupts, shows="did not come to its",
         stranger=True),
    View("stranger-pressed", "/", has_passphrase, ASKS_BUTTON, "Now type the passphrase",
         then=hears_and_presses, stranger=True),
    View("live", "/"),
    View("live-talk", "/", talks),
    View("live-ill", "/", is_ill),
    View("live-timers", "/", has_timers),
    View("live-set", "/", act=set_there("voice", "amy"), shows="Voice set to amy."),
    View("live-refused", "/", act=set_there("mode", "push_to_talk"),
         shows="That did not work. This box has no button"),
    View("set", "/set"),
    View("set-card", "/set", handed=True),
    View("set-wrong", "/set", act=submit('form[action="/set"]:has([name="link.port"])',
                                         **{"link.port": "99999999"}), shows="maximum is 65535"),
    View("set-broken", "/set", is_misspelt, shows="settings.yaml"),
    View("network", "/set/network", handed=True),
    View("network-waits", "/set/network", enters_wifi, handed=True),
    View("network-none", "/set/network"),
    View("try", "/try"),
    View("try-results", "/try", has_results),
    View("try-echo", "/try", tries("echo", measured)),
    View("try-goes-on", "/try", tries("microphone")),
    View("try-refused", "/try", tries("tone", lambda n: TrialRefused(n, "busy")), handed=True),
    View("own", "/own"),
    View("own-ill", "/own", is_ill),
    View("timers", "/own/timers", has_timers),
    View("timers-none", "/own/timers"),
    View("voice", "/own/voice"),
    View("voice-asks", "/own/voice", enrols(None, "short")),
    View("voice-learnt", "/own/voice", has_enrolled),
    View("memory", "/own/memory", remembers),
    View("memory-none", "/own/memory"),
    View("models", "/own/models"),
    View("models-card", "/own/models", fetches, handed=True),
    View("software", "/own/software"),
    View("software-ready", "/own/software", has_releases, handed=True),
    View("software-card", "/own/software", is_card, handed=True,
         act=OPEN,
         shows="Yes, start the machine"),
    View("software-looks", "/own/software", looks, handed=True),
    View("software-tries", "/own/software", tries_system, handed=True),
    View("software-goes-on", "/own/software", progress(InstallProgress("0.4.0", "unpack", 0.4))),
    View("software-failed", "/own/software",
         progress(InstallProgress("0.4.0", "", 0.0, "It did not start. Back on 0.3.0."))),
    View("backup", "/own/backup", add_owner_data),
    View("backup-made", "/own/backup", add_owner_data, submit('form[action="/own/backup"]'),
         "Not in it: passwords"),
    View("backup-restored", "/own/backup", was_restored),
    View("backup-not-restored", "/own/backup", was_not_restored),
    View("backup-preview", "/own/backup", brings_backup),
    View("report", "/own/report", has_files),
    View("access", "/access", has_many_browsers),
    View("access-passphrase", "/access", has_passphrase),
    View("missing", "/nothing"),
    View("missing-stranger", "/nothing", stranger=True),
    View("refused", "/own", act="(() => { const f = document.querySelector('form');"
         " f.elements.token.value = 'x'; f.submit() })()", shows="not accepted"),
)  # fmt: skip
