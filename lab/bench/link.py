"""`interlude bench link`: the latency of state changes over MQTT, the link's cost, and an outage.

It runs a real Mosquitto on this machine, the real conductor and the real link; this process sends
the messages of the other parts.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil

from appliance.errors import LinkError
from appliance.messages.commands import Mute, StateChanged
from appliance.messages.hearing import SpeechEnded, SpeechStarted, WakeWordHeard
from appliance.messages.thinking import Think
from appliance.runtime import process_table
from appliance.runtime.ipc.channel import Channel
from appliance.runtime.supervisor import Supervisor
from appliance.settings import Settings
from lab.bench.benches import SPREAD, BenchOptions, FigureTable, spread
from lab.bench.mosquitto import BrokerObserver, Mosquitto, resident_mib
from lab.sim.launchers import launcher_for
from lab.sim.rehearsal_cli import load_over

EVENTS = 200  # changes of state; the outage and the idle part last a tenth of that in seconds
MOST_CHANGES, LONGEST_IDLE_S = 1000, 100.0  # the outage has no limit
PARTS = ("capture", "playback", "listener", "thinker", "speaker")
ROOT = "interlude/bench"
TIMEOUT_S = 15.0  # timeout of what should take 5 s


def bench(options: BenchOptions) -> list[FigureTable]:
    """Measure `--events N` changes, 1000 at most; the outage lasts N / 10 seconds, an hour with
    36000.

    Raises LinkError if Mosquitto is not installed or the link does not connect.
    """
    number = options.events or EVENTS
    with tempfile.TemporaryDirectory(prefix="interlude-link-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with Mosquitto(folder) as broker, _House(options.settings, broker, folder) as house:
            return [
                _idle(house, min(max(number / 10, 5.0), LONGEST_IDLE_S)),
                _states(house, min(number, MOST_CHANGES)),
                _outage(house, max(number / 10, 5.0)),
            ]


class _House(contextlib.ExitStack):
    """A conductor and a link at a broker, and an observer of the broker's topics."""

    def __init__(self, settings: Settings, broker: Mosquitto, folder: Path) -> None:
        super().__init__()
        self.broker = broker
        link = {"broker": "127.0.0.1", "port": broker.port, "id": "bench", "interval_s": 30}
        changed = load_over(
            settings, {"state_dir": str(folder / "state"), "link": link, "log": "error"}
        )
        rows = (process_table.row("conductor"), process_table.row("link"))
        self.supervisor = Supervisor(
            changed,
            rows=rows,
            watchers=(*PARTS, "room"),
            launcher=launcher_for(os.environ),
        )
        self._channels = {peer: self.supervisor.channel(peer) for peer in (*PARTS, "room")}
        self.observer = BrokerObserver(broker.port)
        self.callback(self._leave_the_broker)
        self.callback(self.supervisor.close)
        self.callback(self.supervisor.stop_all)
        self.supervisor.start()
        if not self.wait_until(self.online):
            raise LinkError("The link does not come up.", "See the log above.")

    def _leave_the_broker(self) -> None:
        self.observer.__exit__()

    @property
    def pid(self) -> int:
        child = self.supervisor.parts["link"].child
        if child is None:
            raise LinkError("The link is not running.")
        return child.pid

    def channel(self, peer: str) -> Channel:
        return self._channels[peer]

    def poll(self, wait_s: float = 0.001) -> dict[str, list[Any]]:
        """Run the supervisor once, for at most `wait_s`. Returns the messages to each part."""
        self.supervisor.run_once(wait_s)
        return {peer: list(channel.receive_all()) for peer, channel in self._channels.items()}

    def wait_until(self, condition: Callable[[], object], seconds: float = TIMEOUT_S) -> bool:
        end_s = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end_s:
                return False
            self.poll()
        return True

    def online(self) -> bool:
        return self.observer.last(f"{ROOT}/availability") == b"online"

    def says(self, state: str) -> bool:
        """Whether that state is the newest at the broker."""
        payload = self.observer.last(f"{ROOT}/state")
        return payload is not None and json.loads(payload)["state"] == state

    def toggles(self, number: int) -> Iterator[StateChanged]:
        """Mute and unmute the box `number` times; yields each change with the conductor's stamp."""
        for index in range(number):
            self.channel("room").send(Mute(on=index % 2 == 0))
            end_s = time.monotonic() + TIMEOUT_S
            while time.monotonic() < end_s:
                changes = [m for m in self.poll()["room"] if isinstance(m, StateChanged)]
                if changes:
                    yield changes[0]
                    break


def _idle(house: _House, seconds: float) -> FigureTable:
    """Messages, CPU and memory of the link while nothing happens."""
    house.wait_until(lambda: False, 1.0)
    process = psutil.Process(house.pid)
    house.observer.heard.clear()
    before, started = _cpu_s(process), time.monotonic()
    while time.monotonic() - started < seconds:
        house.poll(0.25)
    took = time.monotonic() - started
    share = 100 * (_cpu_s(process) - before) / took
    row = process_table.row("link")
    sheet = FigureTable(f"Idle for {took:.0f} s", ("", "measured", "goal"))
    sheet.rows = [
        ("messages a minute", round(60 * len(house.observer.heard) / took, 1), 2),
        ("% of one core", round(share, 2), round(100 * row.cpu_share)),
        ("MiB resident", round(resident_mib(house.pid), 1), row.memory_mib),
    ]
    sheet.notes.append(
        "Telemetry at most every 30 s, the shortest interval of the settings; an unchanged reading "
        "is not published."
    )
    return sheet


def _states(house: _House, number: int) -> FigureTable:
    """The time from the conductor's stamp of a change until another client receives it."""
    process = psutil.Process(house.pid)
    before, started = _cpu_s(process), time.monotonic()
    times: list[float] = []
    for change in house.toggles(number):
        count_before = len(house.observer.messages_of(f"{ROOT}/state"))
        house.wait_until(lambda state=change.state: house.says(state))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
        received = house.observer.messages_of(f"{ROOT}/state")
        if received and len(received) >= count_before:
            times.append((received[-1].at_ns - change.at_ns) / 1e6)
        house.wait_until(lambda: False, 0.02)
    share = 100 * (_cpu_s(process) - before) / (time.monotonic() - started)
    sheet = FigureTable("From a change of state to another client of the broker, ms", ("", *SPREAD))
    sheet.rows.append(("state (goal: 100)", *spread(times)))
    sheet.notes.append(f"The link used {share:.1f} % of a core during 20 to 40 changes a second.")
    sheet.events = [{"ms": times}]
    return sheet


def _outage(house: _House, seconds: float) -> FigureTable:
    """Kill the broker while the box runs on, then start it without its retained messages."""
    memory = [resident_mib(house.pid)]
    house.broker.kill()
    house.observer.__exit__()
    started = time.monotonic()
    happened = 0
    while time.monotonic() - started < seconds:
        happened += _simulate_events(house, happened)
        memory.append(resident_mib(house.pid))
    house.channel("room").send(Mute(on=True))
    house.wait_until(lambda: False, 0.3)
    house.broker.start()
    restarted = time.monotonic()
    house.observer = BrokerObserver(house.broker.port)
    recovered = house.wait_until(
        lambda: house.online() and house.says("muted") and len(house.observer.heard) >= 6
    )
    recovery_s = time.monotonic() - restarted
    house.wait_until(lambda: False, 2.0)
    late_events = len(house.observer.messages_of(f"{ROOT}/event/conversation"))
    sheet = FigureTable(f"Broker away for {seconds:.0f} s", ("", "measured", "goal"))
    sheet.rows = [
        ("things that happened meanwhile", happened, ""),
        ("MiB grown", round(memory[-1] - memory[len(memory) // 10], 2), 0),
        ("late events", late_events, 0),
        ("s until all is right again", round(recovery_s, 2) if recovered else "never", 5),
    ]
    sheet.notes.append("Grown: from the end of the outage's first tenth to its end.")
    return sheet


def _simulate_events(house: _House, number: int) -> int:
    """Simulate an utterance; if it is sent to the thinker, mute and unmute the box. Returns 1."""
    listener = house.channel("listener")
    listener.send(WakeWordHeard(16_000, "okay"))
    listener.send(SpeechStarted(number + 1, number + 1, 16_000))
    listener.send(SpeechEnded(number + 1, 32_000, 16_000, last=True))
    for message in house.poll(0.1)["thinker"]:
        if isinstance(message, Think):
            house.channel("room").send(Mute(on=True))
            house.channel("room").send(Mute(on=False))
    house.poll(0.1)
    return 1


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
