"""Real processes under the real supervisor; the test plays the processes that are missing."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable
from typing import Any, Self, TypeVar

from appliance.messages.message import BaseMessage
from appliance.messages.registry import Message
from appliance.runtime import process_table
from appliance.runtime.ipc.channel import Channel
from appliance.runtime.supervisor import Supervisor
from appliance.settings import Settings
from lab.sim.launchers import launcher_for

PATIENCE_S = 60.0  # on a very busy machine
M = TypeVar("M")


class SupervisedPart:
    """One process. The test plays the conductor and reads its rings. `messages`: what it sent."""

    def __init__(self, name: str, settings: Settings, watchers: tuple[str, ...] = ()) -> None:
        self.name = name
        self.supervisor = Supervisor(
            settings,
            rows=(process_table.row(name),),
            watchers=watchers,
            launcher=launcher_for(os.environ),
        )
        self.floor = self.supervisor.floor()
        self.mail = Channel(self.supervisor.ipc.ends[name][1])
        self.messages: list[BaseMessage] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.supervisor.stop_all()
        self.supervisor.close()

    @property
    def pid(self) -> int:
        return pid_of(self.supervisor, self.name)

    def told(self, kind: type[BaseMessage], turn: int | None = None) -> list[Any]:
        """Its messages of that kind, or only those of answer `turn`."""
        return [
            message
            for message in self.messages
            if isinstance(message, kind) and turn in (None, getattr(message, "turn", None))
        ]

    def poll(self) -> list[BaseMessage]:
        """One round of conductor and supervisor: at most 20 ms without mail. Returns the mail."""
        select.select(self.awaited(), [], [], 0.02)
        mail = list[BaseMessage](self.mail.receive_all())
        self.messages += mail
        self.supervisor.run_once(0)
        return mail

    def awaited(self) -> list[int]:
        """The descriptors to wait for."""
        return [self.mail.fileno()]

    def until(self, true: Callable[[], object], within_s: float = 20.0) -> None:
        """Wait for the condition; fail if it does not become true in time."""
        end_s = time.monotonic() + within_s
        while not true():
            assert time.monotonic() < end_s, (f"not within {within_s} s", self.messages)
            self.poll()


class PlayedParts:
    """The processes `names`. The test plays those in `played`, and a room as observer."""

    def __init__(self, settings: Settings, names: tuple[str, ...], played: tuple[str, ...]) -> None:
        self.settings = settings
        rows = tuple(map(process_table.row, names))
        self.supervisor = Supervisor(
            settings, rows=rows, watchers=(*played, "room"), launcher=launcher_for(os.environ)
        )
        self.floor = self.supervisor.floor()
        peers = (*played, "room", "supervisor")
        self.channels = {peer: self.supervisor.channel(peer) for peer in peers}
        self._mail: dict[str, list[object]] = {peer: [] for peer in peers}
        self.supervisor.start()
        self.until(lambda: self.supervisor.is_ready)

    def close(self) -> None:
        self.supervisor.stop_all()
        self.supervisor.close()

    def pid(self, name: str) -> int:
        return pid_of(self.supervisor, name)

    def until(self, true: Callable[[], object], seconds: float = PATIENCE_S) -> None:
        """Wait for the condition; fail if it does not become true in time."""
        end_s = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end_s, "it never came"
            self.supervisor.run_once(0.002)

    def wait(self, seconds: float) -> None:
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            self.supervisor.run_once(0.01)

    def say(self, peer: str, *messages: Message) -> None:
        for message in messages:
            assert self.channels[peer].send(message)

    def get(self, peer: str, kind: type[M]) -> M:
        """The next message of that kind to `peer`; earlier messages are dropped."""
        found: list[M] = []

        def look() -> bool:
            self._mail[peer] += self.channels[peer].receive_all()
            while self._mail[peer] and not found:
                message = self._mail[peer].pop(0)
                if isinstance(message, kind):
                    found.append(message)
            return bool(found)

        self.until(look)
        return found[0]

    def drop_mail(self) -> None:
        """Drop all messages that have reached the played processes so far."""
        for peer in self._mail.keys() - {"supervisor"}:  # the supervisor reads its own mail
            for _ in self.channels[peer].receive_all():
                continue
            self._mail[peer].clear()


def kill_and_wait(pid: int) -> None:
    """Kill a process and wait for its end."""
    pidfd = os.pidfd_open(pid)
    os.kill(pid, signal.SIGKILL)
    select.select([pidfd], [], [])
    os.close(pidfd)


def pid_of(supervisor: Supervisor, name: str) -> int:
    child = supervisor.parts[name].child
    assert child is not None
    return child.pid
