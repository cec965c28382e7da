"""Runs the thinker under the real supervisor; the test acts as conductor and listener."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from appliance import settings
from appliance.messages.thinking import (
    Recall,
    RecallWanted,
    Sentence,
    Think,
    ThinkerReady,
    ThoughtEnded,
)
from appliance.models.model_disk import sha256_of
from appliance.models.store import ModelStore, PinnedRevision
from appliance.runtime.ipc.channel import Channel
from appliance.runtime.ipc.ring import END, PAUSE, START, RingWriter
from appliance.settings import Settings
from tests.supervised import SupervisedPart

SLOT = 320
LIMIT_S = 20.0


OWN = "mine"  # name of an owner's model


def plain_settings(
    state_dir: Path, files: tuple[Path, Path] | None = None, **thinking: Any
) -> Settings:
    """Settings that name these files, of text and audio, as a model of the owner."""
    own = {"state_dir": str(state_dir), "thinking": thinking, "log": "info"}
    if files is not None:
        rows = {
            role: {"file": path.name, "size": path.stat().st_size, "sha256": sha256_of(path)}
            for role, path in zip(("text", "audio"), files, strict=True)
        }
        own["models"] = {OWN: rows}
    return settings.load(Path(os.devnull), own)


def install(plain: Settings, files: tuple[Path, Path]) -> None:
    """Copy two files to the place of the owner's model, once."""
    store = ModelStore.of(plain)
    model = store.models[OWN]
    if store.state(model) == "installed":
        return
    store.folder(model).mkdir(parents=True)
    for role, source in zip(("text", "audio"), files, strict=True):
        store.path(model, model.files[role]).write_bytes(source.read_bytes())
    found = {file.path: file for file in model.files.values()}
    store.mark_complete(model, PinnedRevision("0" * 40, found))


class Rig(SupervisedPart):
    """One thinker process. `messages`: what it has sent. `turn`: the first number that a test may
    use, where several share the process: turns only count up."""

    def __init__(
        self,
        state_dir: Path,
        files: tuple[Path, Path] | None = None,
        recalled: tuple[tuple[str, str, str], ...] | None = (),
        **thinking: Any,
    ) -> None:
        plain = plain_settings(state_dir, files, **thinking)
        if files is not None:
            install(plain, files)
        super().__init__("thinker", plain)
        self.reports = Channel(self.supervisor.ipc.ends["supervisor"][1])
        self.heard = RingWriter(self.supervisor.rings["heard"])
        self.limit_s, self.busy_s = LIMIT_S, 0.0
        self.turn = 1
        self._recalled = recalled  # None: the memory never answers
        self.supervisor.start()

    def wait_ready(self) -> None:
        self.until(lambda: self.told(ThinkerReady))

    def say(
        self,
        utterance: int,
        samples: npt.NDArray[np.int16],
        *,
        end: bool = True,
        pause: bool = False,
    ) -> None:
        """Write an utterance to the ring as the listener does, at full speed.

        With `pause` the last slot of sound has the flag PAUSE, and an empty slot ends it.
        """
        for at in range(0, len(samples), SLOT):
            flags = (START if at == 0 else 0) | (END if end and at + SLOT >= len(samples) else 0)
            if pause and flags & END:
                flags ^= END | PAUSE
            self.heard.write(
                samples[at : at + SLOT], position=at, stream=utterance, index=at, flags=flags
            )
        if pause:
            self.heard.write(
                samples[:0], position=len(samples), stream=utterance, index=len(samples), flags=END
            )

    def think(self, turn: int, *utterances: int, text: str = "") -> None:
        self.floor.turn = turn
        self.mail.send(Think(turn, utterances, text))

    def end_of(self, turn: int, within_s: float = 0.0) -> ThoughtEnded:
        self.until(lambda: self.told(ThoughtEnded, turn), within_s)
        (end,) = self.told(ThoughtEnded, turn)
        assert isinstance(end, ThoughtEnded)
        return end

    def text_of(self, turn: int) -> str:
        """The whole answer. Asserts that its sentences are numbered in order."""
        sentences: list[Sentence] = self.told(Sentence, turn)
        assert [sentence.number for sentence in sentences] == list(range(len(sentences)))
        return " ".join(sentence.text for sentence in sentences)

    def until(self, true: Callable[[], object], within_s: float = 0.0) -> None:
        """Act as the conductor until `true()`, for at most `within_s` (0: `limit_s`). Time under
        strain, in which the box skips idle work, does not count, up to `busy_s`."""
        began_s = now_s = time.monotonic()
        within_s = left_s = within_s or self.limit_s
        while not true():
            before_s, now_s = now_s, time.monotonic()
            left_s -= 0.0 if self.floor.strain else now_s - before_s
            assert left_s > 0, f"not within {within_s} s"
            assert now_s - began_s < within_s + self.busy_s, "the machine is too busy"
            mail = self.poll()
            if self._recalled is not None and any(isinstance(m, RecallWanted) for m in mail):
                self.mail.send(Recall(self._recalled))
