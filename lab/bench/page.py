"""`interlude bench page`: what the page costs the conversation, with viewers and under attack.

The same sounds are played over the talking box in five conditions, in alternating blocks; each
block restarts the real processes on the software card. In the control condition the box has no
page and the attackers work against another server. A last table has the time until an opened page
shows live data, the page's cost without viewers, and its size in bytes.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from appliance.messages.commands import Say
from appliance.messages.hearing import Onset
from appliance.messages.playback import Dropouts, PlaybackPaused, PlaybackResumed
from appliance.page import access
from appliance.page.page import BEAT_S
from appliance.page.static_files import StaticFiles
from appliance.page.visit import COOKIE
from appliance.pcm import RATE_HZ
from appliance.settings import Settings
from lab.bench.bench_words import synthetic
from lab.bench.benches import SPREAD, BenchOptions, FigureTable, spread
from lab.bench.harness import QUIET, WITHOUT_THINKER, BenchHarness
from lab.bench.page_figures import PageCondition, Place, tables
from lab.bench.page_visitors import ATTACK, VIEWERS
from lab.bench.seam import BEFORE, knock, murmur, read_seam
from lab.bench.stop import measure_stop
from lab.free_port import free_port
from lab.sim.rehearsal_cli import load_over
from lab.sim.simulated_card import SaidTooLate
from lab.sim.speech_source import OwnerSound

EVENTS = 72  # sounds in each condition; those that fall into a gap of the speech have no stop
SOUNDS_PER_BLOCK = 18
OPENINGS = 60
IDLE_S = 15.0
AFTER_S = 1.0  # how long the box is recorded after a sound
MOST_PSS_MIB, MOST_IDLE_PERCENT, MOST_KB = 45, 1, 150
OFF, ALONE, LOOKED_AT, ATTACKED = "no page", "nobody there", "three look", "under attack"
ELSEWHERE = "no page, the attack elsewhere"
VISITORS = {OFF: (), ALONE: (), LOOKED_AT: VIEWERS, ATTACKED: ATTACK, ELSEWHERE: ATTACK}
WITHOUT_PAGE = (OFF, ELSEWHERE)


def bench(options: BenchOptions) -> list[FigureTable]:
    """Raises CardError if the box does not start or does not speak."""
    found = {name: PageCondition(name) for name in VISITORS}
    blocks = max(1, round((options.events or EVENTS) / SOUNDS_PER_BLOCK))
    with tempfile.TemporaryDirectory(prefix="interlude-page-") as name:
        folder = Path(name)
        for block in range(blocks):
            names = list(VISITORS)
            first = block % len(names)
            for condition in (*names[first:], *names[:first]):
                _PageBlock(options, folder, found[condition], block).play()
        return [*tables(list(found.values())), _opening(options, folder)]


class _PageBlock:
    """One block of one condition."""

    def __init__(
        self, options: BenchOptions, folder: Path, found: PageCondition, number: int
    ) -> None:
        self._options, self._found, self._number = options, found, number
        self._settings = with_page(options.settings, folder, on=found.name not in WITHOUT_PAGE)
        self._cookie = let_in(self._settings)

    def play(self) -> None:
        has_page = self._found.name not in WITHOUT_PAGE
        parts = (*WITHOUT_THINKER, "page") if has_page else WITHOUT_THINKER
        stage = BenchHarness(
            QUIET, self._settings, self._act, parts=parts, state=self._settings.state_path()
        )
        stage.play()
        for direction, number in stage.dropouts.items():
            self._found.dropouts[direction] += number - self._before[direction]

    def _act(self, stage: BenchHarness) -> None:
        name, port = self._found.name, self._settings.page.port
        page = None if name in WITHOUT_PAGE else psutil.Process(stage.pid("page"))
        if name == ATTACKED:
            ask_for_code(stage, port)
        stage.start_talking()
        visitors = VISITORS[name]
        with contextlib.ExitStack() as stack:
            if name == ELSEWHERE:
                port = stack.enter_context(elsewhere())
            stack.enter_context(visiting(port, self._cookie, visitors, self._found.visits))
            stage.wait(1.0)
            self._before, started_s = dict(stage.dropouts), time.monotonic()
            cpu_s = cpu_of(page)
            rng = random.Random(self._options.seed + self._number)  # noqa: S311 -- chance, not secrecy
            for number, sound in enumerate(_sounds(self._options.seed + self._number)):
                self._event(stage, (self._number, number), sound, rng)
                if page is not None:
                    self._found.most_mib = max(self._found.most_mib, pss_mib(page.pid))
            self._found.seconds += time.monotonic() - started_s
            self._found.cpu_s += cpu_of(page) - cpu_s
        if page is not None:
            self._found.restarts += stage.supervisor.parts["page"].starts - 1

    def _event(
        self, stage: BenchHarness, place: Place, sound: OwnerSound, rng: random.Random
    ) -> None:
        try:
            at, onset = stage.add_over_talk(sound, rng)
        except SaidTooLate:  # this process was delayed
            self._found.left_out += 1
            return
        end = at + sound.end + round(AFTER_S * RATE_HZ)
        stage.wait_until(lambda: stage.card.now() > end, 10.0)
        stage.wait_until(stage.settled, 3.0)
        stage.wait(2 * BEFORE / RATE_HZ)
        stop = measure_stop(stage, onset)
        self._found.missed += stop.missed
        self._found.left_out += bool(stop.left_out)
        if stop.last is not None:
            self._found.stops_ms[place] = stop.last * 1000 / RATE_HZ
        self._record_onset_delay(stage, place, onset)
        self._count_seams(stage, onset)

    def _record_onset_delay(self, stage: BenchHarness, place: Place, onset: int) -> None:
        """Record the delay from the sample that decided the onset to the conductor's message."""
        for at, seen in reversed(stage.recording.mail):
            if at < onset:
                return
            message = seen.message
            if isinstance(message, Onset) and message.decided:
                decided_ns = stage.card.time_of(stage.index(message.decided))
                self._found.heard_ms[place] = (seen.at_ns - decided_ns) / 1e6
                return

    def _count_seams(self, stage: BenchHarness, onset: int) -> None:
        if any(m.direction == "playback" for m in stage.messages_since(Dropouts, onset)):
            return  # an underrun shifts everything after it
        pauses = [m for m in stage.messages_since(PlaybackPaused, onset)
                  if stage.index(m.index) >= onset]  # fmt: skip
        for pause in pauses:
            resumes = [m for m in stage.messages_since(PlaybackResumed, onset)
                       if m.serial == pause.serial]  # fmt: skip
            seam = read_seam(stage, pause, resumes[0]) if resumes else None
            if seam is not None:
                self._found.seams += 1
                self._found.lost += seam.lost_samples
                self._found.repeated += seam.repeated_samples


def _sounds(seed: int) -> list[OwnerSound]:
    """The sounds of a block: interrupting words; every fourth is a knock or a backchannel."""
    words = synthetic(seed)
    others = [knock(seed), murmur("mm-hm"), murmur("uh-huh")]
    return [
        others[number // 4 % len(others)] if number % 4 == 3 else next(words).sound
        for number in range(SOUNDS_PER_BLOCK)
    ]


def with_page(settings: Settings, folder: Path, *, on: bool) -> Settings:
    """The settings with the page on or off, at a free port of the loopback interface."""
    page_settings = {"enabled": on, "port": free_port(), "listen": "127.0.0.1"}
    return load_over(settings, {"page": page_settings, "state_dir": str(folder)})


def let_in(settings: Settings) -> str:
    """Pair a browser before the box starts. Returns its cookie."""
    return access.AccessStore(access.path(settings), time.time).let_in("bench")


@contextlib.contextmanager
def visiting(
    port: int, cookie: str, kinds: tuple[str, ...], counts: dict[str, int]
) -> Iterator[None]:
    """Run these visitors in a child process; their results are added to `counts`."""
    if not kinds:
        yield
        return
    command = [sys.executable, "-m", "lab.bench.page_visitors", str(port), cookie, *kinds]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        try:
            yield
            output, _ = child.communicate(timeout=30)
            for name, number in json.loads(output).items():
                counts[name] = counts.get(name, 0) + number
        finally:
            child.kill()


@contextlib.contextmanager
def elsewhere() -> Iterator[int]:
    """Run a server that is not the page (page_elsewhere.py). Yields its port."""
    command = [sys.executable, "-m", "lab.bench.page_elsewhere"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout is not None
            yield int(child.stdout.readline())
        finally:
            child.kill()


def ask_for_code(stage: BenchHarness, port: int) -> None:
    """Have the box say a pairing code, which the attackers guess, and wait until it is idle."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("POST", "/pair/code", headers={"Origin": f"http://127.0.0.1:{port}",
                       "Content-Type": "application/x-www-form-urlencoded"})  # fmt: skip
    connection.getresponse().read()
    connection.close()
    before = stage.started_at
    stage.wait_until(lambda: any(stage.messages_since(Say, 0)), 5.0)
    stage.wait_until(lambda: stage.started_at != before, 8.0)
    stage.wait_until(lambda: stage.state is not None and stage.state.state == "idle", 20.0)


def cpu_of(process: psutil.Process | None) -> float:
    """CPU seconds of the process so far; 0 without one, or if it has ended."""
    if process is None:
        return 0.0
    with contextlib.suppress(psutil.Error):
        times = process.cpu_times()
        return float(times.user + times.system)
    return 0.0


def pss_mib(pid: int) -> float:
    """Proportional set size: a shared page counts as its share; 0 if the process has ended."""
    with contextlib.suppress(psutil.Error):
        return float(psutil.Process(pid).memory_full_info().pss) / 2**20
    return 0.0


# ── opening the page


def _opening(options: BenchOptions, folder: Path) -> FigureTable:
    """Fetch the page, its files and the event stream, without a browser's own work."""
    count = options.events or OPENINGS
    settings = with_page(options.settings, folder, on=True)
    cookie = let_in(settings)
    times: list[float] = []
    sizes: list[int] = []
    costs: list[float] = []

    def act(stage: BenchHarness) -> None:
        page = psutil.Process(stage.pid("page"))
        before_s = cpu_of(page)
        stage.wait(IDLE_S)
        costs.append(100 * (cpu_of(page) - before_s) / IDLE_S)
        for _ in range(count):
            started_ns = time.monotonic_ns()
            size, at_ns = open_page(settings.page.port, cookie)
            times.append((at_ns - started_ns) / 1e6)
            sizes.append(size)
            stage.wait(BEAT_S + 0.5)  # until all parts of the box know that there is no viewer
        costs.append(pss_mib(page.pid))

    parts = (*WITHOUT_THINKER, "page")
    BenchHarness(QUIET, settings, act, parts=parts, state=folder).play()
    sheet = FigureTable("The page is opened", ("", *SPREAD, "limit"))
    sheet.rows = [
        ("nobody looked → the first live sample, ms", *spread(times), ""),
        ("bytes of the live view, kB", *spread([max(sizes) / 1000]), MOST_KB),
        ("bytes of all files, kB", *spread([StaticFiles().size_bytes / 1000]), MOST_KB),
        (f"processor, nobody looks, {IDLE_S:g} s, %", *spread(costs[:1], 2), MOST_IDLE_PERCENT),
        ("memory (PSS), MiB", *spread(costs[1:]), MOST_PSS_MIB),
    ]
    sheet.notes.append("Without a browser's own work; for Chromium's see docs/benchmarks/page.md.")
    return sheet


def open_page(port: int, cookie: str) -> tuple[int, int]:
    """Open the live view as a browser does. Returns the bytes of the page and its files, and the
    time of the first levels (CLOCK_MONOTONIC, ns)."""
    headers = {"Cookie": f"{COOKIE}={cookie}"}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", "/", headers=headers)
    html = connection.getresponse().read()
    size = len(html)
    for path in sorted(set(re.findall(rb'"(/static/[^"]+)"', html))):
        connection.request("GET", path.decode(), headers=headers)
        size += len(connection.getresponse().read())
    connection.request("GET", "/events", headers=headers)
    stream = connection.getresponse()
    while b'"k":"levels"' not in stream.readline():
        continue
    at_ns = time.monotonic_ns()
    connection.close()
    return size, at_ns
