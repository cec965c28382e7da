"""The process table: each process with cores and priority, each ring with writer and readers.

The supervisor starts the rows from top to bottom, and stops the first one last, after the others
have ended. The table is data and imports no process: enabled.py selects the rows that run, and
rights.py has the rights of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from appliance.runtime.ipc import state_size
from appliance.runtime.ipc.ring_handles import RingSpec


@dataclass(frozen=True)
class Process:
    """One row.

    name         also the log tag and the process title
    module       in `package`; has `main(work)`
    cores        of a Pi 5 (0 to 3); cores that do not exist are ignored
    scheduling   "fifo" if the system allows it, with `priority` (1 to 99); else normal with `nice`
    lock_memory  lock all pages, so that a page fault never delays the audio path
    start_s      longest time between two heartbeats until the process is ready: it imports code
                 and reads models from an SD card, while another process reads 4 GB from the same
    silent_s     longest time between two heartbeats afterwards; then the process counts as hung
    needed       the box does not work without it; it can do without the others for a while
    cpu_share    budget: share of one core that it may use while the box speaks
    memory_mib   budget: resident memory without the model's weights; allocations far beyond it
                 fail (runtime/supervision/process_limits.py)
    package      differs for a part of a test or a bench
    """

    name: str
    module: str
    cores: tuple[int, ...]
    scheduling: Literal["fifo", "normal"]
    priority: int
    nice: int
    lock_memory: bool
    start_s: float
    silent_s: float
    needed: bool
    cpu_share: float
    memory_mib: int
    package: str = "appliance"


PROCESSES: tuple[Process, ...] = (
    #      name         module              cores  sched. prio nice lock start silent needed cpu MiB
    Process("conductor", "dialog.conductor", (0,), "normal", 0, 0, False, 30,  5, True,  0.05, 120),
    Process("panel",    "panel.panel",       (0,), "normal", 0, 0, False, 30,  5, False, 0.02,  60),
    Process("playback", "audio.playback",    (0,), "fifo",  21, 0, True,  30,  2, True,  0.08, 240),
    Process("capture",  "audio.capture",     (0,), "fifo",  20, 0, True,  30,  2, True,  0.06, 240),
    Process("listener", "hear.listener",     (1,), "fifo",  10, 0, True,  60,  5, True,  0.15, 300),
    Process("words",    "hear.words.words",  (1,), "normal", 0, 2, False, 60, 10, False, 0.1,  200),
    Process("speaker",  "voice.speaker",     (1,), "normal", 0, 5, False, 60, 15, False, 0.5,  400),
    Process("thinker",  "think.thinker",   (2, 3), "normal", 0, 0, False, 60, 60, False, 2.0,  600),
    Process("link",     "mqtt.link",         (0,), "normal", 0, 0, False, 30,  5, False, 0.01,  60),
    Process("page",     "page.page",         (0,), "normal", 0, 10, False, 30, 10, False, 0.02, 60),
)  # fmt: skip
# The conductor starts first and stops last, so that it gets the first and last message of each
# part. The panel is second: the early light (panel/early.py) ends when it starts, before any model
# loads.


# What a process needs beside the files that every process may read: Python, the system's libraries
# and settings, /proc and /sys (places.py has the paths). Folders of the state folder have their
# names.
Place = Literal[
    "broker", "conductor", "enrolled", "link", "listener", "memory", "memory/states",
    "memory/uploads", "openings", "page", "panel", "timers", "audio-encoder",
    "control socket", "restore outcome", "owner's settings", "broker secrets", "page certificate",
    "server key", "models", "voices", "releases", "notes of root", "requests", "wishes", "incoming",
    "warnings", "name resolution", "sound settings", "OOM scores",
]  # fmt: skip
Device = Literal["sound", "pins"]
Program = Literal["python", "voice programs"]


@dataclass(frozen=True)
class Files:
    """Further columns of a row. What they do not name cannot be opened, made, removed or started
    (landlock.py).

    reads    files and folders that it may read
    writes   those that it may also create, change and remove
    devices  that it may use
    starts   programs that it may start; without any, execve(2) is refused, too (sandbox.py)
    """

    reads: tuple[Place, ...] = ()
    writes: tuple[Place, ...] = ()
    devices: tuple[Device, ...] = ()
    starts: tuple[Program, ...] = ()


FILES: dict[str, Files] = {
    "conductor": Files(
        writes=("conductor", "timers", "memory", "panel", "control socket"),
    ),
    "panel": Files(
        reads=("notes of root",), writes=("panel", "wishes"), devices=("pins",),
    ),
    "playback": Files(reads=("sound settings",), devices=("sound",)),
    "capture": Files(reads=("sound settings",), devices=("sound",)),
    "listener": Files(writes=("listener", "enrolled"), starts=("python",)),
    "words": Files(reads=("models",)),
    "speaker": Files(
        reads=("models", "voices"), writes=("OOM scores",), starts=("python", "voice programs"),
    ),
    "thinker": Files(
        reads=("models", "server key", "name resolution"),
        writes=("memory/states", "openings", "audio-encoder"),
        starts=("python",),
    ),
    "link": Files(
        reads=("models", "releases", "notes of root", "broker secrets", "name resolution"),
        writes=("link", "broker", "requests", "incoming", "owner's settings"),
    ),
    "page": Files(
        reads=("memory", "timers", "conductor", "panel", "restore outcome", "models", "voices",
               "releases", "notes of root", "warnings", "page certificate"),
        writes=("page", "memory/uploads", "enrolled", "broker", "requests", "incoming",
                "owner's settings"),
        starts=("python",),
    ),
}  # fmt: skip

# Rows without a memory limit: the memory depends on the model.
UNLIMITED = frozenset({"thinker"})

# oom_score_adj of the rows that the kernel should kill first; the others keep that of the service,
# 0. A restarted thinker has loaded its model after a minute, and the other parts work meanwhile.
OOM_SCORES: dict[str, int] = {"thinker": 1000, "words": 500}

STATES = "states"  # this ring is made only for a voice that reads it (enabled.py)
TRIED = "tried"  # this ring is made only with the page, for its microphone test
RINGS: tuple[RingSpec, ...] = (
    #        name      writer      readers        slots  frames
    RingSpec("mic",    "capture",  ("listener",),  512,   80),  # 2.6 s of 5 ms
    RingSpec("played", "playback", ("listener",),  512,   80),
    RingSpec("heard",  "listener", ("thinker",),  4096,  320),  # 82 s: encoding takes long
    RingSpec("near",   "listener", ("words",),    1024,   80),  # 5 s, and only where words runs
    RingSpec("voice",  "speaker",  ("playback",),  128,  320, waits_for="playback"),  # 2.6 s
    # The hidden states of each sampled token: room for more than one answer (400 tokens), because a
    # small model may sample one in a tenth of a second.
    RingSpec(STATES,   "thinker",  ("speaker",),  512, state_size.SAMPLES),
    RingSpec(TRIED,    "listener", ("speaker",),   256, 320),  # 5.1 s: the microphone test takes 3
)  # fmt: skip


def row(name: str) -> Process:
    """The row of that name. Raises KeyError."""
    return {process.name: process for process in PROCESSES}[name]


def ring(name: str) -> RingSpec:
    """The ring of that name. Raises KeyError."""
    return {spec.name: spec for spec in RINGS}[name]


def rings_read_by(name: str) -> tuple[RingSpec, ...]:
    """The rings this process reads."""
    return tuple(ring for ring in RINGS if name in ring.readers)


def rings_written_by(name: str) -> tuple[RingSpec, ...]:
    """The rings this process writes."""
    return tuple(ring for ring in RINGS if ring.writer == name)
