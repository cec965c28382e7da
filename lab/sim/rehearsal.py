"""Runs a rehearsal: the real processes on a simulated sound card, and a scripted owner.

In: a scene and settings. Out: a `RehearsalRecording` with both sound tracks and every message.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import numpy as np
import psutil

from appliance.cli.rows import rows_to_run
from appliance.errors import CardError, SceneError
from appliance.messages.commands import StateChanged
from appliance.messages.playback import PlaybackResumed, PlaybackStarted
from appliance.messages.registry import ObservedMessage
from appliance.pcm import RATE_HZ, Samples
from appliance.runtime.ipc.ring import WORD, RingReader
from appliance.runtime.process_table import Process
from appliance.runtime.supervisor import Supervisor
from appliance.settings import Settings
from lab.sim import acoustics, script_sounds, speech_source
from lab.sim.alsa_plugin import alsa_environment
from lab.sim.launchers import launcher_for
from lab.sim.rehearsal_recording import PlayedUtterance, RehearsalRecording, cost_of
from lab.sim.scene import Scene, ScriptedUtterance
from lab.sim.simulated_card import SoundCard

WATCHER = "room"
READY_S = 60.0  # timeout for every part to start, with the loading of a model
STEP_S = 0.01  # polling interval of the messages
AHEAD = RATE_HZ // 20  # samples by which the owner's sound is written ahead of the microphone
NOISE_AHEAD = RATE_HZ // 4  # the same for noise, of which seconds are copied at once
NOISE_S = 20  # length of the noise that is generated and looped
TAIL_S = 0.7  # recorded after the end of the script

log = logging.getLogger("room")


class Rehearsal:
    """One run of a scene.

    `during` is called at every step; tests kill processes in it. `rows` replace the rows of the
    process table. `state`: the box's state folder, which is kept; None: a temporary one.
    `environment`: variables of the parts, which override those of this process.
    """

    def __init__(
        self,
        scene: Scene,
        settings: Settings,
        *,
        during: Callable[[Rehearsal], None] | None = None,
        rows: tuple[Process, ...] | None = None,
        state: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.scene = scene
        self._state = state
        self._environment = dict(environment or {})
        self._during = during
        self._rows = rows
        self._sounds = [
            script_sounds.make(scene, entry) for entry in scene.owner
        ]  # before the parts start, since this takes time
        self._noise = _noise(scene)
        self.recording = RehearsalRecording(scene, settings)
        self.state: StateChanged | None = None
        self._since = 0  # card index from which the waits of `when` count
        self._voices: dict[int, list[tuple[int, Samples]]] = defaultdict(list)
        self._words: dict[int, list[int]] = defaultdict(list)  # turn → positions of word starts

    def play(self) -> RehearsalRecording:
        """Play the scene to its end. Raises CardError if the parts do not start."""
        memory = Path("/dev/shm")  # noqa: S108 -- made by mkdtemp; keeps the card's 64 MiB of samples off the disk
        folder = Path(
            tempfile.mkdtemp(prefix="interlude-", dir=memory if memory.is_dir() else None)
        )
        try:
            with self._card(folder) as self.card:
                self._play(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return self.recording

    def _card(self, folder: Path) -> contextlib.AbstractContextManager[SoundCard]:
        room = self.scene.room
        echo = None
        if room.echo_db is not None:
            echo = acoustics.impulse_response(
                room.rt60_s, rate_hz=RATE_HZ, echo_db=room.echo_db, seed=room.seed
            )
        delay = round(room.delay_ms * RATE_HZ / 1000)
        return SoundCard.create(folder / "card", RATE_HZ, echo=echo, echo_delay=delay)

    def _play(self, folder: Path) -> None:
        self.state_dir = self._state or folder / "state"
        settings = _with_own_state(self.recording.settings, self.state_dir)
        sound = alsa_environment(folder, {"sim": folder / "card"})
        environment = os.environ | sound | self._environment
        self.supervisor = Supervisor(
            settings,
            rows=self._rows or rows_to_run(settings),
            watchers=(WATCHER,),
            environment=environment,
            launcher=launcher_for(environment),
        )
        self.mail = self.supervisor.channel(WATCHER)
        self._voice = RingReader(self.supervisor.rings["voice"], WATCHER)
        self.recording.first = self._recorded = self.card.now()
        self._noise_end = self.recording.first + AHEAD
        thread = threading.Thread(target=self.supervisor.run, name="supervisor")
        thread.start()
        try:
            self._wait_until_ready()
            self._run_script()
            self._wait(TAIL_S)
            self._measure_costs()
        finally:
            self.supervisor.request_stop()
            thread.join()
            self._collect()
            self._finish()
            self.supervisor.close()

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_S
        while not self.supervisor.is_ready or self.state is None:
            self._collect_once()
            failed = [name for name, part in self.supervisor.parts.items() if part.failed]
            if failed:
                raise CardError(f"{' and '.join(failed)} did not start.", "See the log above.")
            if time.monotonic() > deadline:
                late = [n for n, p in self.supervisor.parts.items() if not p.heart.is_ready]
                raise CardError(f"{' and '.join(late)} took over {READY_S:g} s to start.")
        self._wait(0.5)  # until the noise floor and the canceller have converged
        self.started = self._since = self.card.now()

    def _run_script(self) -> None:
        for entry, sound in zip(self.scene.owner, self._sounds, strict=True):
            at = self._when(entry)
            if at is None:
                self.recording.given_up = (
                    f"the box was not {entry.when} within {self.scene.patience_s:g} s"
                )
                return
            at = max(at, self.card.now() + AHEAD)
            self.card.add_sound(at, sound.samples)
            played = PlayedUtterance(entry, at + sound.onset, at + sound.end, sound)
            self.recording.said.append(played)
            self._since = played.end
            while self.card.now() < played.end:
                self._collect_once()
        self._wait_for_quiet()

    def _when(self, entry: ScriptedUtterance) -> int | None:
        """The card index at which `entry` is due; None if its state was not reached in time."""
        if entry.at_s is not None:
            return self.started + round(entry.at_s * RATE_HZ)
        after = round(entry.after_s * RATE_HZ)
        deadline = self.card.now() + round(self.scene.patience_s * RATE_HZ)
        while self.card.now() < deadline:
            self._collect_once()
            start = self._state_start(entry.when or "idle")
            if start is not None and self.card.now() + AHEAD >= start + after:
                return start + after
        return None

    def _state_start(self, state: str) -> int | None:
        """The card index from which `after_s` counts in `state`; None in another state."""
        if self.state is None or self.state.state != state:
            return None
        if state == "speaking":
            started = [message.index for _, message in self.recording.messages_of(PlaybackStarted)]
            resumed = [message.index for _, message in self.recording.messages_of(PlaybackResumed)]
            audible = [self.index(index) for index in started + resumed]
            if not audible or self._state_index > max(audible) + RATE_HZ:
                return self._state_index
            return self._first_audible(max(audible))
        return max(self._state_index, self._since)

    def _first_audible(self, index: int) -> int:
        """The first sample over -60 dBFS at the loudspeaker within a second of `index`; `index` if
        there is none yet."""
        now = self.card.now()
        if now <= index:
            return index
        loud = np.flatnonzero(np.abs(self.card.loudspeaker(index, min(now - index, RATE_HZ))) > 33)
        return index + int(loud[0]) if len(loud) else index

    def _wait_for_quiet(self) -> None:
        """Wait until the conversation has been idle for 1.5 s, or until the scene's timeout."""
        deadline = time.monotonic() + self.scene.patience_s
        while time.monotonic() < deadline:
            self._collect_once()
            if self.state is not None and self.state.state in ("idle", "muted"):
                idle_s = (self.card.now() - max(self._state_index, self._since)) / RATE_HZ
                if idle_s > 1.5:
                    return
        self.recording.given_up = f"the box was still {self.state.state if self.state else '?'}"

    def index(self, index: int) -> int:
        """The card's index for an index in a message, which counts from CLOCK_MONOTONIC's zero."""
        return self.card.index_of(round(index * 1_000_000_000 / RATE_HZ))

    def pid(self, part: str) -> int:
        """The process id of a part. Raises SceneError if it does not run."""
        child = self.supervisor.parts[part].child
        if child is None:
            raise SceneError(f"{part} is not running.")
        return child.pid

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._collect_once()

    def _collect_once(self) -> None:
        time.sleep(STEP_S)
        self._write_noise()
        self._collect()
        if self._during is not None:
            self._during(self)

    def _write_noise(self) -> None:
        """Write the room's noise up to 4 s ahead of the microphone: this process may be stalled."""
        until = self.card.now() + 4 * RATE_HZ
        if until < self._noise_end + RATE_HZ:
            return
        first = max(self._noise_end, self.card.now() + NOISE_AHEAD)  # a gap only after a stall
        self._add_sound(first, self._noise[np.arange(first, until) % len(self._noise)])
        self._noise_end = until

    def _add_sound(self, at: int, samples: Samples) -> None:
        self.card.add_sound(at, samples)

    def _collect(self) -> None:
        for observed in self.mail.receive_all():
            if not isinstance(observed, ObservedMessage):
                observed = ObservedMessage(time.monotonic_ns(), "conductor", WATCHER, observed)
            index = self.card.index_of(observed.at_ns)
            self.recording.mail.append((index, observed))
            message = observed.message
            if isinstance(message, StateChanged) and observed.target == WATCHER:
                self.state, self._state_index = message, self.card.index_of(message.at_ns)
        while slot := self._voice.read():
            self._voices[slot.stream].append((slot.position, slot.samples))
            if slot.flags & WORD:
                self._words[slot.stream].append(slot.position)
        end = self.card.microphone_end()
        if end - self._recorded > RATE_HZ:
            self._record(end)

    def _record(self, until: int) -> None:
        frames = until - self._recorded
        recording = self.recording
        recording.microphone = np.append(
            recording.microphone, self.card.microphone(self._recorded, frames)
        )
        recording.loudspeaker = np.append(
            recording.loudspeaker, self.card.loudspeaker(self._recorded, frames)
        )
        self._recorded = until

    def _measure_costs(self) -> None:
        self.recording.seconds = (self.card.now() - self.started) / RATE_HZ
        for name, part in self.supervisor.parts.items():
            if part.child is None:
                continue
            with contextlib.suppress(psutil.Error), psutil.Process(part.child.pid).oneshot():
                self.recording.costs[name] = cost_of(part.child.pid, part.starts - 1)

    def _finish(self) -> None:
        self._record(max(self._recorded, self.card.microphone_end()))
        for turn, pieces in self._voices.items():
            length = max(position + len(samples) for position, samples in pieces)
            answer = np.zeros(length, np.int16)
            for position, samples in pieces:
                answer[position : position + len(samples)] = samples
            self.recording.answers[turn] = answer


def _with_own_state(settings: Settings, folder: Path) -> Settings:
    """The settings with the owner's models, a state folder of the rehearsal's own, and no chime."""
    folder.mkdir(exist_ok=True)
    silent = msgspec.structs.replace(settings.speaking, chime=False)  # scenes start in silence
    return msgspec.structs.replace(
        settings, state_dir=str(folder), models_dir=str(settings.models_path().absolute()),
        speaking=silent,
    )  # fmt: skip


def _noise(scene: Scene) -> Samples:
    """The room's noise, for looping."""
    room = scene.room
    if room.noise is None or room.noise in acoustics.NOISES:
        return acoustics.noise(
            room.noise or "white",
            NOISE_S * RATE_HZ,
            level_db=room.noise_db,
            rate_hz=RATE_HZ,
            seed=room.seed,
        )
    return speech_source.recorded(scene.file(room.noise), room.noise_db).samples
