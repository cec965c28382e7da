"""A session with the tiny model, the memory database and a simulated clock, over restarts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from appliance.dialog import memory
from appliance.dialog.memory import Memory
from appliance.messages.registry import Message
from appliance.messages.thinking import RECALL_TIMES, RecallWanted
from appliance.models.local_model import LocalModel
from appliance.runtime import memory_files
from appliance.think.prompt_state_cache import PromptStateCache
from appliance.think.session import ModelSession
from tests.think.local_talk import thinking
from tests.think.opened import gemma_of, open_local

RECALLED = 3
KEEP = 50
PERSONA = "tell me about the moon " * 60  # beyond the window of 48 tokens
SAID = "tell me about the moon and the big stone"


def never() -> bool:
    return False


class Box:
    """A session with the tiny model, the memory database and a simulated clock."""

    def __init__(self, files: LocalModel, folder: Path, **changes: object) -> None:
        """`changes`: to the settings of `thinking`."""
        self.file = folder / "memory" / "memory.db"
        self.memory = Memory(self.file, KEEP)
        self.model = open_local(
            files, thinking(persona=PERSONA, **changes), 1,
            openings=PromptStateCache(folder / "openings"), memory=self.file, recall_turns=RECALLED,
        )  # fmt: skip
        self.now_s = 0.0
        self.asked = False
        self.session = ModelSession(self.model, self._take, lambda: self.now_s, RECALLED)

    def _take(self, message: Message) -> None:
        self.asked = self.asked or isinstance(message, RecallWanted)

    def start(self) -> int:
        """Start as the thinker does. Returns the number of tokens that it read."""
        before = gemma_of(self.model).read
        self.recall()
        self.settle()
        return gemma_of(self.model).read - before

    def recall(self) -> None:
        turns = self.memory.recall(RECALL_TIMES * RECALLED)
        self.session.load_turns((turn.asked, turn.transcript, turn.heard) for turn in turns)

    def settle(self) -> None:
        while not self.session.prefill_idle():
            continue

    def turn(self, number: int) -> None:
        heard = f"the moon is a big stone {number}"
        self.session.history.add_turn(number, text=f"{SAID} {number}").set_answer(heard)
        self.session.record_heard(number, heard, complete=True)
        now = datetime.now(UTC).isoformat()
        self.memory.remember(
            memory.RememberedTurn(now, number, f"{SAID} {number}", 0.0, heard, True, "tiny")
        )
        self.settle()

    def rest(self, seconds: float) -> None:
        """Let so many seconds pass without a turn."""
        self.now_s += seconds
        for _ in range(3):  # create the file, recall from the memory, prefill
            self.session.prepare_next_start(never)
            self.wait()
            if self.asked:
                self.asked = False
                self.recall()

    def wait(self) -> None:
        assert self.model.recall_cache is not None
        self.model.recall_cache.wait(10)

    def states(self) -> list[Path]:
        """The saved states, without empty files."""
        found = memory_files.snapshots(self.file).glob("*.state-*")
        return [path for path in found if path.stat().st_size]

    def stop(self) -> None:
        self.session.save_snapshot()
        self.close()

    def close(self) -> None:
        self.model.close()
        self.memory.close()


def talk(box: Box, turns: int, first: int = 0) -> None:
    for number in range(first, first + turns):
        box.turn(number)


Begin = Callable[[], Box]
