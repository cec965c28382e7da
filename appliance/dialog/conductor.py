"""[process] The conductor: runs the dialogue's state machine and routes messages between parts.

In: messages of every part, of the supervisor and of watchers. Out: the floor's words `turn`,
`released` and `muted`, messages to the parts, turns to the memory, and to watchers every change of
state and a copy of each message. state_machine.py makes the decisions.

If it dies: unread messages wait in the channels for the next conductor; those read but not yet
acted on are lost. The current answer is cut, and its heard part is not remembered.
"""

from __future__ import annotations

import math
import select
import time
from collections import deque
from collections.abc import Iterable

from appliance.dialog import control_socket, startup_notices
from appliance.dialog.actions import (
    AcknowledgePress,
    Action,
    AnnounceState,
    EraseMemory,
    LogNote,
    RaiseTurn,
    ReleaseHold,
    Remember,
    SendMessage,
    SendRecall,
    SetMuted,
    StopRinging,
    UseTool,
)
from appliance.dialog.memory_client import MemoryClient
from appliance.dialog.mute_state import MuteProblem, MuteState, may_unmute
from appliance.dialog.mute_store import MuteStore
from appliance.dialog.on_answer import OwnerLanguage
from appliance.dialog.page_relay import PageRelay
from appliance.dialog.startup_notices import StartupNotices
from appliance.dialog.state_machine import DialogEvent, Tick, final_step, initial_state, step
from appliance.dialog.status_publisher import STATE_RECEIVERS, STATUS_RECEIVERS, StatusPublisher
from appliance.dialog.timeouts import dialog_policy
from appliance.dialog.tool_runner import ToolRunner
from appliance.language.catalogue import catalogue
from appliance.messages.commands import (
    CommandRefused,
    Forget,
    Forgotten,
    Mute,
    Restart,
    Say,
    SetMode,
    StateChanged,
)
from appliance.messages.registry import Message
from appliance.messages.speech import SpeakerReady
from appliance.messages.supervision import PartChanged
from appliance.messages.thinking import AnswerHeard, Recall, Transcribed
from appliance.messages.tools import CancelTimer, HouseResponse
from appliance.runtime import process_table
from appliance.runtime.worker import Worker
from appliance.settings.adjusted import AdjustmentStore
from appliance.settings.surroundings import NO_BUTTON
from appliance.tools.toolbox import ToolContext
from appliance.voice.selection import VoiceSelection

POLL_S = 0.5  # between two readings of the floor's hold, for an onset whose message was lost
# The supervisor is first, so that a part's failure is handled before messages of its successor;
# the owner's input is handled before the box's own output, and commands from outside last.
_ORDER = ("supervisor", "panel", "words", "listener", "playback", "capture", "thinker", "speaker")
# These get every state: silence between two sentences does not mean that the answer is over.
_STATE_FOLLOWERS = tuple(sorted(STATE_RECEIVERS - {*STATUS_RECEIVERS, "shell"}))


def main(work: Worker) -> None:
    conductor = Conductor(work)
    peers = sorted(work.channels, key=lambda peer: _ORDER.index(peer) if peer in _ORDER else 99)
    poll = select.poll()
    for fd in (work.stop_fd, conductor.memory.fileno(), conductor.mute.fileno()):
        poll.register(fd, select.POLLIN)
    if conductor.control is not None:
        poll.register(conductor.control.fileno(), select.POLLIN)
    for channel in work.channels.values():
        poll.register(channel.fileno(), select.POLLIN)
    work.report_ready()
    while not work.stopping:
        poll.poll(conductor.wait_ms())
        conductor.handle_mail(peers)
        conductor.handle_shell_commands()
        conductor.poll_memory()
        conductor.tick()
        work.beat()
    conductor.handle_mail(peers)  # sent before the stop request: heard text to be stored
    conductor.close()


class Conductor:
    """Runs the state machine on each message and carries out the actions that it returns."""

    def __init__(self, work: Worker) -> None:
        self._work = work
        self._floor = work.floor
        parts = {row.name for row in process_table.PROCESSES}
        self._watchers = [p for p in work.channels if p not in parts and p != "supervisor"]
        self._publishes_words = work.settings.link.words
        self._status = StatusPublisher(work, self._watchers)
        self._page = PageRelay(self._status.send_optional)
        self.mute = MuteState(work.floor, MuteStore.of(work.settings))
        self._adjustments = AdjustmentStore(work.files)
        self._voice = VoiceSelection()
        # If turn > 0, an earlier conductor ran: a voice was loaded and the notices were announced.
        self._voice_ready = work.floor.turn > 0
        self._notices = StartupNotices() if self._voice_ready else startup_notices.handed_over()
        self._unspoken_notices = self._notices.sentences
        self.memory = MemoryClient(work.settings, work.log, self._say)
        self.control = control_socket.open_control_socket(work.settings, work.log)
        self._tools = ToolRunner(work.settings)
        self._pending: deque[DialogEvent] = deque()  # tool replies, handled after current actions
        muted, switched_off = self.mute.start(time.monotonic())
        self._dialog, actions = initial_state(
            dialog_policy(work.settings),
            time.monotonic(),
            turn=work.floor.turn,
            hold=work.floor.hold,
            muted=muted,
            switched_off=switched_off,
            mode=work.settings.mode,
            language=work.settings.own_language,
        )
        self._carry_out(actions)
        self._show()

    def _say(self, key: str) -> str:
        return catalogue(self._dialog.language).say(key)

    def wait_ms(self) -> int:
        """Milliseconds until `tick` is due if no message arrives; at most POLL_S."""
        left_s = min(self._dialog.deadline_s - time.monotonic(), self._tools.wait_s())
        return math.ceil(1000 * max(0.0, min(POLL_S, left_s)))

    def handle(self, peer: str, message: Message) -> None:
        """Handle one message from `peer`."""
        if isinstance(message, Transcribed):  # the memory alone gets the words
            if peer == "thinker":
                self.memory.transcribed(message)
                self._advance(OwnerLanguage.of(message))
            return
        if (events := self._page.handle(peer, message, self._dialog)) is not None:
            self._run_events(events)
            return
        self._status.copy(peer, self._work.name, message)
        if peer == "panel" and self.mute.pop_press_mute():
            self._advance(Mute(on=True))  # before later messages of the panel
        if self._lacks_button(message):
            self._work.log.warning("mode push_to_talk is refused: %s", NO_BUTTON)
            self._advance(Say(self._say("no-button")))
            return
        if message == Mute(on=False) and not may_unmute(self._work.settings, peer):
            self._work.log.warning("the %s may not unmute: `%s.unmute` is false", peer, peer)
            return
        self._update_status(message)
        self._advance(message)
        self._show(message)

    def tick(self) -> None:
        for news in self.mute.poll(time.monotonic()):
            if isinstance(news, MuteProblem):
                self._report_mute_problem(news)
            else:
                self._advance(news)
            self._show()
        self._run_events(self._tools.poll(voice=self._voice_ready))
        self._advance(Tick(self._floor.hold, self._floor.pressed))
        for problem in (*self._tools.complaints(), *self._adjustments.complaints()):
            self._work.log.warning("%s", problem)

    def _report_mute_problem(self, problem: MuteProblem) -> None:
        """Log the problem, and announce it to the owner at once or when a voice is loaded."""
        if problem.aloud is None:
            self._work.log.info("%s", problem.log)
            return
        self._work.log.warning("%s", problem.log)
        announcement = problem.aloud.text(catalogue(self._dialog.language))
        if self._voice_ready:
            self._advance(Say(announcement))
        else:
            self._unspoken_notices.append(announcement)

    def handle_mail(self, peers: list[str]) -> None:
        for peer in peers:
            for message in self._work.pop_messages(peer):
                self._handle_safely(peer, message)

    def _handle_safely(self, peer: str, message: Message) -> None:
        """Handle one message. One that raises is dropped: the next conductor might get it again."""
        try:
            self.handle(peer, message)
        except Exception:
            self._work.log.exception("a %s from %s was dropped", type(message).__name__, peer)

    def handle_shell_commands(self) -> None:
        """Run the commands from the control socket and reply with the resulting state."""
        for client, command in self.control.pop_commands() if self.control is not None else ():
            assert self.control is not None
            if self._lacks_button(command):
                self.control.reply(client, CommandRefused(NO_BUTTON))
                continue
            self.memory.client = client
            self._handle_safely("shell", command)
            self.memory.client = None
            state, turn = self._dialog.state, self._dialog.turn
            if not isinstance(command, Forget):  # answered once the disk has erased it
                self.control.reply(client, StateChanged(state, turn, time.monotonic_ns()))

    def _lacks_button(self, message: Message) -> bool:
        """Whether push_to_talk is requested without a button; in a rehearsal watchers press."""
        has_button = self._work.settings.panel.here or bool(self._watchers)
        return isinstance(message, SetMode) and message.mode == "push_to_talk" and not has_button

    def poll_memory(self) -> None:
        """Forward recalled turns, results of erasures and memory faults."""
        for news in self.memory.poll(time.monotonic()):
            if isinstance(news, Recall):
                self._send("thinker", news)
                continue
            if isinstance(news, Forgotten):
                self._status.send_to_receivers(news)
            self._advance(news)
        while self.memory.replies and self.control is not None:
            self.control.reply(*self.memory.replies.pop(0))

    def close(self) -> None:
        """Store the heard part of the current answer, then close sockets, threads and files."""
        _, actions = final_step(self._dialog, time.monotonic())
        self._carry_out(actions)
        if self.control is not None:
            self.control.close()
        self.mute.request_stop()
        self._adjustments.request_stop()
        self.memory.close()
        self._tools.close()
        self.mute.join()
        self._adjustments.join()

    def _update_status(self, message: Message) -> None:
        """Do what `message` requires outside the state machine: status, voice, tools, restart."""
        self._status.on_message(message)
        if (voice_command := self._voice.handle(message)) is not None:
            self._send("speaker", voice_command)
        match message:
            case SpeakerReady():
                if not self._voice_ready and self._work.settings.speaking.chime:
                    self._advance(Say("", chime=True))  # opening: the listener learns the room
                self._voice_ready = True
                while self._unspoken_notices:
                    self._advance(Say(self._unspoken_notices.pop(0)))
                startup_notices.mark_spoken(self._work.settings.state_path(), self._notices)
                self._notices = StartupNotices()
            case HouseResponse():
                self._run_events(self._tools.on_house_response(message))
            case CancelTimer(number):
                self._tools.cancel(number)
                self._send_tool_messages()
            case PartChanged("page", "up"):
                self._status.send_optional("page", self._tools.listing())
            case Restart():
                self._send("supervisor", message)

    def _show(self, message: Message | None = None) -> None:
        """Publish the box's status and save changed settings."""
        dialog = self._dialog
        storage = self.mute.failing or self._adjustments.failing
        self._status.publish(message, dialog, self._tools.status(), storage=storage)
        self._adjustments.follow(dialog.listening.mode, dialog.volume, self._voice.name)

    def _advance(self, message: DialogEvent) -> None:
        self._dialog, actions = step(self._dialog, message, time.monotonic())
        self._tools.language = self._dialog.language
        self._carry_out(actions)
        while self._pending:
            self._advance(self._pending.popleft())

    def _run_events(self, events: Iterable[DialogEvent]) -> None:
        """Run the state machine on events of the tools, then forward the tools' messages."""
        for event in events:
            self._advance(event)
        self._send_tool_messages()

    def _run_tool(self, action: UseTool) -> None:
        """Run a tool; its reply is handled after the current actions."""
        settings, dialog = self._work.settings, self._dialog
        volume = settings.speaking.volume if dialog.volume is None else dialog.volume
        home = self._status.house if settings.tools.home else None
        context = ToolContext(volume, dialog.last_lines, home, action.asker, dialog.language)
        self._pending.extend(self._tools.run_tool(action, context))
        self._send_tool_messages()

    def _send_tool_messages(self) -> None:
        """Send the tools' messages to link (requests, timers), panel (ringing) and page."""
        while self._tools.news:
            self._status.send_to_receivers(self._tools.news.popleft())

    def _carry_out(self, actions: tuple[Action, ...]) -> None:
        for action in actions:
            match action:
                case RaiseTurn(turn):
                    self._floor.turn = turn
                case ReleaseHold(serial):
                    self._floor.released = serial
                case AcknowledgePress():
                    self._floor.press_taken = self._floor.press
                case SetMuted(on):
                    self.mute.set(time.monotonic(), muted=on)
                case SendMessage(part, message):
                    self._send(part, message)
                case Remember() | SendRecall() | EraseMemory():
                    self.memory.carry_out(action, self._status.model)
                case UseTool():
                    self._run_tool(action)
                case StopRinging():
                    self._tools.stop_ringing()
                    self._send_tool_messages()
                case AnnounceState():
                    self._announce(action)
                case LogNote(text):
                    self._work.log.warning("%s", text)

    def _announce(self, change: AnnounceState) -> None:
        dialog = self._dialog
        changed = StateChanged(change.state, change.turn, time.monotonic_ns(), change.reason,
                               change.ring, dialog.taken_back, dialog.passed_on)  # fmt: skip
        self._work.log.info("%s (%s)", change.state, change.reason)
        for peer in (*_STATE_FOLLOWERS, *self._watchers):
            self._work.channels[peer].send(changed)
        for part in sorted(STATE_RECEIVERS.intersection(STATUS_RECEIVERS)):
            self._status.send_optional(part, changed)

    def _send(self, part: str, message: Message) -> None:
        channel = self._work.channels.get(part)
        if channel is None:
            return
        if not channel.send(message):
            self._work.log.warning("%s: channel full, a %s was lost", part, type(message).__name__)
        if isinstance(message, AnswerHeard):
            self._page.show_words(message)
            if self._publishes_words:
                self._status.send_optional("link", message)
        self._status.copy(self._work.name, part, message)
