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

LOOK_S = 10.0  # between two scans for installed voices: some dozen small files
AGAIN_S = 3600.0  # until a voice whose trial failed is tried again

log = logging.getLogger("speaker")
VoiceCommands = Mapping[str, tuple[str, ...]]


class VoiceAvailability:
    """`commands`: returns the installed voices by name, with their programs. `now_s`: clock."""

    def __init__(self, commands: Callable[[], VoiceCommands], now_s: Callable[[], float]) -> None:
        self._commands, self._now_s = commands, now_s
        self._here: VoiceCommands = {}
        self._speaks: dict[tuple[str, ...], bool] = {}  # by command: a new program needs a trial
        self._tried_s: dict[tuple[str, ...], float] = {}
        self._look_at_s = 0.0
        self._stands_in: tuple[str, ...] = ()  # espeak-ng, if it is installed
        self._trial: VoiceTrial | None = None
        self._program: ProgramVoice | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The voices that have spoken, in the order of `commands`, and last espeak-ng, which needs
        no trial. () before the first `poll`."""
        spoken = (name for name, how in self._here.items() if self._speaks.get(how))
        return (*spoken, *self._stands_in)

    def fileno(self) -> int:
        """The descriptor to poll during a trial; -1 if none runs."""
        return self._program.fileno() if self._program is not None else -1

    def poll(self, voices: Sequence[Voice], *, busy: bool) -> None:
        """Scan for voices when due, and start or continue a trial. `voices`: the loaded ones; one
        that is ready needs no trial. `busy`: the box is speaking, so the core is not free."""
        now_s = self._now_s()
        if now_s >= self._look_at_s:
            self._here, self._look_at_s = self._commands(), now_s + LOOK_S
        self._stands_in = tuple(each.name for each in voices if each.name == EspeakVoice.name)
        for voice in voices:
            if voice.ready and voice.name in self._here:
                self._speaks[self._here[voice.name]] = True
                self._tried_s[self._here[voice.name]] = now_s
        if self._trial is not None:
            self._go_on(self._trial)
        elif not busy and (name := self._due(now_s, voices)):
            self._program = ProgramVoice(name, self._here[name])
            self._trial = VoiceTrial(self._program, self._now_s)
            self._tried_s[self._here[name]] = now_s

    def replaced(self, voices: Sequence[Voice]) -> str:
        """The name of a loaded voice whose program was replaced by another; "" for none."""
        for voice in voices:
            here = self._here.get(voice.name)
            if isinstance(voice, ProgramVoice) and here is not None and here != voice.command:
                return voice.name
        return ""

    def close(self) -> None:
        if self._program is not None:
            self._program.close()
        self._program = self._trial = None

    def _due(self, now_s: float, voices: Sequence[Voice]) -> str:
        loading = {voice.name for voice in voices if is_loading(voice)}
        for name, how in self._here.items():
            if name in loading:
                continue  # a second instance would double the time of both
            tried_s = self._tried_s.get(how)
            if tried_s is None or (not self._speaks.get(how) and now_s - tried_s > AGAIN_S):
                return name
        return ""

    def _go_on(self, trial: VoiceTrial) -> None:
        trial.poll()
        if trial.verdict is None:
            return
        name = trial.voice.name
        if (how := self._here.get(name)) is not None:
            self._speaks[how] = not trial.verdict
        if trial.verdict:
            log.warning("%s It is not offered.", trial.verdict)
        self.close()
