"""The process table: what runs, where, how urgently, and who may write which ring.

They start from top to bottom; the first is stopped last, once the others have ended. It is data,
and imports no process: which rows run says enabled.py, and what each may do rights.py.
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
    module       inside `package`; has `main(work)`
    cores        of a Pi 5 (0 to 3); cores that do not exist are left out
    scheduling   "fifo" if the system allows it, with `priority` (1 to 99); else normal with `nice`
    lock_memory  pages may not be swapped out under the sound card
    start_s      longest time between two heartbeats until it does its work: it imports and reads
                 models from an SD card, while another process reads 4 GB from the same one
    silent_s     likewise from then on; beyond it the process is hung
    needed       the box is dead without it; the others it can do without for a while
    cpu_share    budget: the share of one core it may use while the box speaks
    memory_mib   budget: resident memory, the model's weights not counted; who takes far more gets
                 no more (runtime/supervision/process_limits.py)
    package      another than this one for a part that a test or a bench brings
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
# The conductor starts first, so that nobody's first message waits, and hears everybody's last. The
# panel is the next: the early light (panel/early.py) waits for it, and waits for no model.


# Rows whose memory is not limited: what a model needs depends on the model.
UNLIMITED = frozenset({"thinker"})

# Who goes first when the machine is out of memory, by oom_score_adj. Who is not here keeps the
# service's own, 0. A thinker comes back with its model in a minute, and the others hear meanwhile.
OOM_SCORES: dict[str, int] = {"thinker": 1000, "words": 500}

STATES = "states"  # the ring that is made only where a voice speaks them (enabled.py)
TRIED = "tried"  # likewise: only where there is a page to try the microphone on
RINGS: tuple[RingSpec, ...] = (
    #        name      writer      readers        slots  frames
    RingSpec("mic",    "capture",  ("listener",),  512,   80),  # 2.6 s of 5 ms
    RingSpec("played", "playback", ("listener",),  512,   80),
    RingSpec("heard",  "listener", ("thinker",),  4096,  320),  # 82 s: encoding takes long
    RingSpec("near",   "listener", ("words",),    1024,   80),  # 5 s, and only where words runs
    RingSpec("voice",  "speaker",  ("playback",),  128,  320, waits_for="playback"),  # 2.6 s
    # Of each token that is drawn, what the model made of it: more than an answer (400 tokens),
    # which a small model draws in a tenth of a second.
    RingSpec(STATES,   "thinker",  ("speaker",),  512, state_size.SAMPLES),
    RingSpec(TRIED,    "listener", ("speaker",),   256, 320),  # 5.1 s: the microphone test has 3
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
