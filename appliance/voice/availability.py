"""Which of the voices that are here can really speak: each is started once and says a word.

One at a time, while the box says nothing. What was fetched or installed since is tried, too.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from appliance.voice.espeak import EspeakVoice
from appliance.voice.interface import Voice, is_loading
from appliance.voice.probe import VoiceTrial
from appliance.voice.program import ProgramVoice

LOOK_S = 10.0  # between two looks at what lies on the disk: some dozen small files
AGAIN_S = 3600.0  # a voice that could not speak is tried again

log = logging.getLogger("speaker")
VoiceCommands = Mapping[str, tuple[str, ...]]


class VoiceAvailability:
    """`commands`: the voices that are here, by name, with their programs. `now_s`: seconds."""

    def __init__(self, commands: Callable[[], VoiceCommands], now_s: Callable[[], float]) -> None:
        self._commands, self._now_s = commands, now_s
        self._here: VoiceCommands = {}
        self._speaks: dict[tuple[str, ...], bool] = {}  # by command: another program, another trial
        self._tried_s: dict[tuple[str, ...], float] = {}
        self._look_at_s = 0.0
        self._stands_in: tuple[str, ...] = ()  # espeak-ng, where it is installed
        self._trial: VoiceTrial | None = None
        self._program: ProgramVoice | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Those that have spoken, in the order of `commands`; espeak-ng, which needs no trial,
        last. () before the first `poll`."""
        spoken = (name for name, how in self._here.items() if self._speaks.get(how))
        return (*spoken, *self._stands_in)

    def fileno(self) -> int:
        """What to poll while one is tried; -1 where none is."""
        return self._program.fileno() if self._program is not None else -1

    def poll(self, voices: Sequence[Voice], *, busy: bool) -> None:
        """Go on. `voices`: those that are loaded; one that is ready has proved what it can. `busy`:
        there is something to say, and the core is needed for that."""
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
        """The name of a voice in use whose program another has taken the place of; "" for none."""
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
                continue  # twice at once would take twice as long
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
