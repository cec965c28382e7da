"""[process] The panel: reports presses to floor and conductor, shows the state by its light."""

from __future__ import annotations

import os
import select
import time

import msgspec

from appliance.errors import PanelBusy, PanelError
from appliance.messages.commands import (
    BoxStatus,
    ButtonFault,
    Mute,
    MuteSwitched,
    StateChanged,
    StatusWanted,
)
from appliance.messages.registry import Message
from appliance.messages.tools import TimersStatus
from appliance.messages.trying import ShowLight, SoundRecording
from appliance.models.store import ModelStore
from appliance.panel import early, health
from appliance.panel.brightness import brightness
from appliance.panel.button import Button, Gesture
from appliance.panel.button_actions import ButtonActions
from appliance.panel.button_events import ButtonEvents
from appliance.panel.gpio import GpioWires
from appliance.panel.health import PanelHealth
from appliance.panel.keyboard_socket import HELLO, WORDS, KeyboardSocket, place
from appliance.panel.light import OFF, PATTERNS, Colour, choose, shown, until_change_s
from appliance.panel.light_demo import LightDemo
from appliance.panel.machine_indicators import MachineIndicators
from appliance.panel.mute_switch import MuteSwitch
from appliance.panel.power_on_hold import PowerOnHold
from appliance.runtime import status
from appliance.runtime.machine import Machine
from appliance.runtime.worker import Worker

POWER_ON_S = 20.0  # since the box started; a panel that starts later has been restarted
BOOT_S = 180.0  # since boot; a box that starts later has been restarted
RELEASE_S = 3.0  # for the early light to release the lines
TICK_S = 0.02  # while a gesture is in progress
BEAT_S = 1.0
LONGEST_RECORDING_S = 10.0  # then the message about its end was lost
CARDS = {"the microphone", "the loudspeaker"}  # in BoxStatus.broken: a sound card is missing
WARNINGS: tuple[Gesture, ...] = ("setup_warning", "reset_warning", "reset_armed")
TROUBLE = {"stuck": "is held down for too long", "bouncing": "bounces without end"}


def main(work: Worker) -> None:
    panel = Panel(work)
    poll = select.poll()
    poll.register(work.stop_fd, select.POLLIN)
    for fd in panel.descriptors():
        poll.register(fd, select.POLLIN)
    panel.run_once(time.monotonic())
    work.report_ready()
    while not work.stopping:
        poll.poll(1000 * panel.wait_s(time.monotonic()) + 1)
        panel.run_once(time.monotonic())
        work.beat()
    panel.close()


class Panel:
    """Passes levels to button and switch, and their results to the floor, conductor and LED."""

    def __init__(self, work: Worker) -> None:
        settings = work.settings
        self._work = work
        self._settings = settings.panel
        self._gpio = _open_gpio(work)
        keyboard = settings.panel.gpio == "keyboard"
        self._keyboard = KeyboardSocket(place(settings)) if keyboard else None
        now = time.monotonic()
        machine = Machine()
        fresh = now - work.box_started_s < POWER_ON_S and (machine.up_s() or 0) < BOOT_S
        self._button = Button(power_on=fresh)
        self._switch = MuteSwitch()
        self._actions = ButtonActions(
            settings.mode, settings.hearing.push_to_talk.press == "toggle", muted=work.floor.shut
        )
        self._events = ButtonEvents()
        self._indicators = MachineIndicators(
            machine, ModelStore.of(settings), state=settings.state_path()
        )
        self._health_path = health.place(settings)
        self._power_on_hold = PowerOnHold(
            settings.state_path(), work.log, language=settings.own_language
        )
        self._health = PanelHealth(pid=os.getpid(), wires=self._gpio.access)
        self._written_health: PanelHealth | None = None
        self._box_status: BoxStatus | None = None
        self._ringing = False
        self._recorded_until = 0.0
        self._state = "starting"
        self._notice = ""  # the warning that the light shows, or "setup" once that was requested
        self._demo = LightDemo()
        self._shown, self._since = "", now
        self._colour: Colour | None = None
        levels = self._gpio.levels()
        if fresh and not (self._health_path / health.FILE).exists():  # else an earlier panel did
            self._handle_gestures(early.replay_edges(self._button, early.read_edges(now)), now)
        self._handle_gestures(self._button.edge(levels["button"], now), now)
        self._has_switch = "mute_switch" in levels
        if self._has_switch:
            self._switch.off = levels["mute_switch"]
            self._follow_switch(was=False)

    def descriptors(self) -> list[int]:
        fds = [self._work.channel.fileno(), self._gpio.fileno()]
        return fds if self._keyboard is None else [*fds, self._keyboard.fileno()]

    def wait_s(self, now: float) -> float:
        if self._button.busy or (self._has_switch and self._switch.pending):
            return TICK_S
        change_s = until_change_s(PATTERNS[self._shown], now - self._since)
        return min(BEAT_S, change_s, self._demo.left_s(now))

    def run_once(self, now: float) -> None:
        """Handle all pending events; those that silence the box come first."""
        words = self._keyboard.pop_words() if self._keyboard is not None else []
        for name, active in (WORDS[word] for word in words if word != HELLO):
            self._gpio.drive(name, active)
        for name, active, at in self._edges():
            if name == "button":
                self._handle_gestures(self._button.edge(active, at), at)
            else:
                self._on_switch(active, at)
        self._handle_gestures(self._button.tick(now), now)
        if self._has_switch:
            was = self._switch.off
            self._switch.tick(now)
            self._follow_switch(was=was)
        self._report()
        while not self._power_on_hold.messages.empty():
            self._work.send(self._power_on_hold.messages.get())
        for message in self._work.pop_messages():
            self._handle(message, now)
        self._update_light(now, redraw=bool(words))

    def close(self) -> None:
        self._gpio.show(OFF)
        self._gpio.close()
        if self._keyboard is not None:
            self._keyboard.close()

    def _edges(self) -> list[tuple[str, bool, float]]:
        """Edges since the last call. Raises PanelError when the lines are gone; then a wired switch
        counts as off, since it cannot be read."""
        try:
            return self._gpio.edges()
        except PanelError:
            if self._has_switch:
                self._work.floor.switched_off = True
            raise

    def _handle(self, message: Message, now: float) -> None:
        match message:
            case SoundRecording(on=on):
                self._recorded_until = now + LONGEST_RECORDING_S if on else 0.0
            case ShowLight(pattern):
                self._demo.request(pattern, choose(self._conditions(now)), now)
            case StateChanged(state):
                self._state = self._actions.state = state
            case BoxStatus(mode, muted):
                self._box_status = message
                # A long press mutes at once, even if the conductor has not handled it yet.
                self._actions.mode, self._actions.muted = mode, muted or self._work.floor.shut
            case StatusWanted():
                self._work.send(ButtonFault(self._health.button))
            case TimersStatus(ringing=ringing):
                self._ringing = ringing

    def _handle_gestures(self, gestures: list[Gesture], now: float) -> None:
        for gesture in gestures:
            if gesture == "press":
                self._work.floor.press += 1  # silence first; the message follows
                self._update_health(pressed=True, pressed_s=now)
            if gesture in WARNINGS:
                self._notice = gesture
            elif gesture in ("press", "cancelled", "reset"):
                self._notice = ""
            elif gesture == "setup":
                self._notice = "setup"
                self._power_on_hold.start("setup")
            if gesture == "reset":
                self._power_on_hold.start("reset")
            for message in (
                *self._actions.messages_for(gesture, now),
                *self._events.events_for(gesture),
            ):
                if message == Mute(on=True):
                    self._work.floor.closed += 1  # off at once, whatever the conductor does
                    self._actions.muted = True
                self._work.send(message)

    def _on_switch(self, off: bool, at: float) -> None:
        was = self._switch.off
        self._switch.level(off, at)
        self._follow_switch(was=was)

    def _follow_switch(self, *, was: bool) -> None:
        """Write the switch's state to the floor; send a change to the conductor."""
        off = self._switch.off
        self._work.floor.switched_off = off
        if off != was:
            text = "the switch cuts the microphone" if off else "the switch is closed again"
            self._work.log.info("%s", text)
            self._work.send(MuteSwitched(off))

    def _report(self) -> None:
        """Report a fault of the button to the log and the conductor; write panel.json."""
        fault = self._button.fault
        if fault != self._health.button:
            self._update_health(button=fault)
            self._work.send(ButtonFault(fault))
            if fault:
                self._work.log.warning("the button %s: it is ignored", TROUBLE[fault])
            else:
                self._work.log.info("the button works again")
        if self._has_switch:
            self._update_health(switch="cuts" if self._switch.off else "closed")
        if self._health != self._written_health:
            self._written_health = self._health
            try:
                health.write_health(self._health_path, self._health)
            except OSError as error:
                self._work.log.warning("panel.json cannot be written (%s)", error.strerror)

    def _update_health(self, **fields: object) -> None:
        self._health = msgspec.structs.replace(self._health, **fields)

    def _conditions(self, now: float) -> set[str]:
        """All conditions that are true now, by their names in the light's table."""
        conditions = {self._state}
        if self._notice:
            conditions.add(self._notice)
        if self._ringing:
            conditions.add("ringing")
        if now < self._recorded_until:
            conditions.add("recording")
        if self._has_switch and self._switch.off:
            conditions.add("muted")
        if self._box_status is not None:
            broken = set(self._box_status.broken)
            conditions |= {"failed"} if broken else set()
            conditions |= {"no_card"} if broken and broken <= CARDS else set()
            conditions |= {"no_broker"} if self._box_status.house is False else set()
            conditions |= {"muted"} if self._box_status.muted else set()
            conditions |= {"starting"} if self._box_status.starting else set()
        return conditions | self._indicators.seen

    def _update_light(self, now: float, *, redraw: bool) -> None:
        self._indicators.poll(now)
        name = self._demo.shown(choose(self._conditions(now)), now)
        if name != self._shown:
            self._shown, self._since = name, now
        colour = shown(name, now - self._since, brightness(self._settings))
        if colour != self._colour:
            self._colour = colour
            self._light(colour)
            redraw = True
        if redraw and self._keyboard is not None:
            self._keyboard.show(name, colour)

    def _light(self, colour: Colour) -> None:
        """Show a colour. An error of a strip's bus is logged once; the next change tries again."""
        try:
            self._gpio.show(colour)
            failed = ""
        except OSError as error:
            failed = error.strerror or "its bus fails"
        if failed != self._health.light:
            self._work.log.warning("the light: %s", failed or "it works again")
            self._update_health(light=failed)


def _open_gpio(work: Worker) -> GpioWires:
    """Open the GPIO lines, once the early light has released them. Raises PanelError."""
    early.request_wires(status.folder())
    end_s = time.monotonic() + RELEASE_S
    while True:
        try:
            return GpioWires(work.settings.panel)
        except PanelBusy:
            if work.stopping or time.monotonic() > end_s:
                raise
            work.beat()
            time.sleep(TICK_S)
