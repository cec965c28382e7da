"""Finds which of the installed voices can really speak: each is started once to say a word.

One trial runs at a time, while the box says nothing. Voices installed later are tried, too.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from appliance.voice.espeak import EspeakVoice
from appliance.voice.interface import Voice, is_loading
from appliance.voice.probe import VoiceTrial
from appliance.voice.program import ProgramVoice

SCAN_S = 10.0  # between two scans for installed voices: some dozen small files
RETRY_S = 3600.0  # until a voice whose trial failed is tried again

log = logging.getLogger("speaker")
VoiceCommands = Mapping[str, tuple[str, ...]]


class VoiceAvailability:
    """`commands`: returns the installed voices by name, with their programs. `now_s`: clock."""

    def __init__(self, commands: Callable[[], VoiceCommands], now_s: Callable[[], float]) -> None:
        self._commands, self._now_s = commands, now_s
        self._installed: VoiceCommands = {}
        self._speaks: dict[tuple[str, ...], bool] = {}  # by command: a new program needs a trial
        self._tried_s: dict[tuple[str, ...], float] = {}
        self._next_scan_s = 0.0
        self._fallback: tuple[str, ...] = ()  # espeak-ng, if it is installed
        self._trial: VoiceTrial | None = None
        self._program: ProgramVoice | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The voices that have spoken, in the order of `commands`, and last espeak-ng, which needs
        no trial. () before the first `poll`."""
        spoken = (name for name, command in self._installed.items() if self._speaks.get(command))
        return (*spoken, *self._fallback)

    def fileno(self) -> int:
        """The descriptor to poll during a trial; -1 if none runs."""
        return self._program.fileno() if self._program is not None else -1

    def poll(self, voices: Sequence[Voice], *, busy: bool) -> None:
        """Scan for voices when due, and start or continue a trial. `voices`: the loaded ones; one
        that is ready needs no trial. `busy`: the box is speaking, so the core is not free."""
        now_s = self._now_s()
        if now_s >= self._next_scan_s:
            self._installed, self._next_scan_s = self._commands(), now_s + SCAN_S
        self._fallback = tuple(each.name for each in voices if each.name == EspeakVoice.name)
        for voice in voices:
            if voice.ready and voice.name in self._installed:
                self._speaks[self._installed[voice.name]] = True
                self._tried_s[self._installed[voice.name]] = now_s
        if self._trial is not None:
            self._continue_trial(self._trial)
        elif not busy and (name := self._next_to_try(now_s, voices)):
            self._program = ProgramVoice(name, self._installed[name])
            self._trial = VoiceTrial(self._program, self._now_s)
            self._tried_s[self._installed[name]] = now_s

    def replaced(self, voices: Sequence[Voice]) -> str:
        """The name of a loaded voice whose program was replaced by another; "" for none."""
        for voice in voices:
            command = self._installed.get(voice.name)
            if isinstance(voice, ProgramVoice) and command is not None and command != voice.command:
                return voice.name
        return ""

    def close(self) -> None:
        if self._program is not None:
            self._program.close()
        self._program = self._trial = None

    def _next_to_try(self, now_s: float, voices: Sequence[Voice]) -> str:
        loading = {voice.name for voice in voices if is_loading(voice)}
        for name, command in self._installed.items():
            if name in loading:
                continue  # a second instance would double the time of both
            tried_s = self._tried_s.get(command)
            if tried_s is None or (not self._speaks.get(command) and now_s - tried_s > RETRY_S):
                return name
        return ""

    def _continue_trial(self, trial: VoiceTrial) -> None:
        trial.poll()
        if trial.verdict is None:
            return
        name = trial.voice.name
        if (command := self._installed.get(name)) is not None:
            self._speaks[command] = not trial.verdict
        if trial.verdict:
            log.warning("%s It is not offered.", trial.verdict)
        self.close()
