"""A rehearsal: the real processes on a simulated card, with the owner played from a script.

In: a scene and settings. Out: a `RehearsalRecording` of both sound tracks and of every message.
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
from lab.sim.rehearsal_recording import PlayedUtterance, RehearsalRecording, cost_of
from lab.sim.scene import Scene, ScriptedUtterance
from lab.sim.simulated_card import SoundCard

WATCHER = "room"
READY_S = 60.0  # for every part to come up, a model's loading included
STEP_S = 0.01  # between two looks at the mail
AHEAD = RATE_HZ // 20  # samples into the future the owner's sound is put, to be there in time
NOISE_AHEAD = RATE_HZ // 4  # likewise for seconds of noise at once, whose copying takes longer
NOISE_S = 20  # of noise are made, and looped
TAIL_S = 0.7  # recorded after the last thing has happened

log = logging.getLogger("room")


class Rehearsal:
    """One scene being played.

    `during` is called at every step: tests kill processes there. `rows` stand for the table's.
    `state`: the box's own folder, which stays; None: one of this rehearsal's, which goes with it.
    `environment`: of the parts, over this process's own.
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
        ]  # before time runs
        self._noise = _noise(scene)
        self.recording = RehearsalRecording(scene, settings)
        self.state: StateChanged | None = None
        self._since = 0  # card index from which `when: speaking` and the like count
        self._voices: dict[int, list[tuple[int, Samples]]] = defaultdict(list)
        self._words: dict[int, list[int]] = defaultdict(list)  # positions at which a word begins

    def play(self) -> RehearsalRecording:
        """Play the scene to its end. Raises CardError when the parts do not come up."""
        memory = Path("/dev/shm")  # noqa: S108 -- made by mkdtemp; the card is 64 MiB of samples that no disk need see
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
        self.supervisor = Supervisor(
            settings,
            rows=self._rows or rows_to_run(settings),
            watchers=(WATCHER,),
            environment=os.environ | sound | self._environment,
        )
        self.mail = self.supervisor.channel(WATCHER)
        self._voice = RingReader(self.supervisor.rings["voice"], WATCHER)
        self.recording.first = self._recorded = self.card.now()
        self._noisy = self.recording.first + AHEAD
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
        self._wait(0.5)  # the noise floor and the canceller settle, as in a box that has been on
        self.started = self._since = self.card.now()

    def _run_script(self) -> None:
        for entry, sound in zip(self.scene.owner, self._sounds, strict=True):
            at = self._when(entry)
            if at is None:
                self.recording.given_up = (
                    f"waited {self.scene.patience_s:g} s in vain for the box to be {entry.when}"
                )
                return
            at = max(at, self.card.now() + AHEAD)
            self.card.add_sound(at, sound.samples)
            said = PlayedUtterance(entry, at + sound.onset, at + sound.end)
            self.recording.said.append(said)
            self._since = said.end
            while self.card.now() < said.end:
                self._collect_once()
        self._wait_for_quiet()

    def _when(self, entry: ScriptedUtterance) -> int | None:
        """The card index at which `entry` is due; None when its state did not come in time."""
        if entry.at_s is not None:
            return self.started + round(entry.at_s * RATE_HZ)
        after = round(entry.after_s * RATE_HZ)
        deadline = self.card.now() + round(self.scene.patience_s * RATE_HZ)
        while self.card.now() < deadline:
            self._collect_once()
            begun = self._begun(entry.when or "idle")
            if begun is not None and self.card.now() + AHEAD >= begun + after:
                return begun + after
        return None

    def _begun(self, state: str) -> int | None:
        """Since when (card index) the conversation has been in `state`, counted as scenes count."""
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
        """The first sample over -60 dBFS at the loudspeaker from `index` on, if it has come."""
        now = self.card.now()
        if now <= index:
            return index
        loud = np.flatnonzero(np.abs(self.card.loudspeaker(index, min(now - index, RATE_HZ))) > 33)
        return index + int(loud[0]) if len(loud) else index

    def _wait_for_quiet(self) -> None:
        """Until the conversation is idle and has been for a moment, or patience ends."""
        deadline = time.monotonic() + self.scene.patience_s
        while time.monotonic() < deadline:
            self._collect_once()
            if self.state is not None and self.state.state in ("idle", "muted"):
                idle_s = (self.card.now() - max(self._state_index, self._since)) / RATE_HZ
                if idle_s > 1.5:
                    return
        self.recording.given_up = f"the box was still {self.state.state if self.state else '?'}"

    def index(self, index: int) -> int:
        """The card's index of an index in messages, which count from CLOCK_MONOTONIC's zero."""
        return self.card.index_of(round(index * 1_000_000_000 / RATE_HZ))

    def pid(self, part: str) -> int:
        """The process id of a part that runs. Raises SceneError when it does not."""
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
        self._make_noise()
        self._collect()
        if self._during is not None:
            self._during(self)

    def _make_noise(self) -> None:
        """Keep the room's noise seconds ahead of the microphone: this process may be held up."""
        until = self.card.now() + 4 * RATE_HZ
        if until < self._noisy + RATE_HZ:
            return
        first = max(self._noisy, self.card.now() + NOISE_AHEAD)  # later only after a stall
        self._add_sound(first, self._noise[np.arange(first, until) % len(self._noise)])
        self._noisy = until

    def _add_sound(self, at: int, samples: Samples) -> None:
        self.card.add_sound(at, samples)

    def _collect(self) -> None:
        for seen in self.mail.receive_all():
            if not isinstance(seen, ObservedMessage):
                seen = ObservedMessage(time.monotonic_ns(), "conductor", WATCHER, seen)
            index = self.card.index_of(seen.at_ns)
            self.recording.mail.append((index, seen))
            message = seen.message
            if isinstance(message, StateChanged) and seen.target == WATCHER:
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
        tracks = self.recording
        tracks.microphone = np.append(
            tracks.microphone, self.card.microphone(self._recorded, frames)
        )
        tracks.loudspeaker = np.append(
            tracks.loudspeaker, self.card.loudspeaker(self._recorded, frames)
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
    """The owner's models, but a memory of the rehearsal's own, and no chime."""
    folder.mkdir(exist_ok=True)
    silent = msgspec.structs.replace(settings.speaking, chime=False)  # a scene begins in silence
    return msgspec.structs.replace(
        settings, state_dir=str(folder), models_dir=str(settings.models_path().absolute()),
        speaking=silent,
    )  # fmt: skip


def _noise(scene: Scene) -> Samples:
    """The room's noise, to be looped."""
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
