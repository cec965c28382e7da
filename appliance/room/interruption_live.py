"""The half of `bench interruption` that runs at the pace of a clock: the real processes on the
software sound card. What is measured here is what `bench stop` and `bench seam` measure."""

from __future__ import annotations

from dataclasses import replace

from appliance.room import bench_seam, bench_stop
from appliance.room.bench_stage import QUIET
from appliance.room.bench_words import Recorded
from appliance.room.benches import Options, Sheet
from appliance.room.interruption_plan import SNR_DB, Effort
from appliance.room.owner import SPEECH_DB
from appliance.room.scene import Room
from appliance.room.trials import Trial

ROOMS: dict[str, Room] = {
    "quiet": QUIET,
    "echo as loud as the owner": Room(noise="white", noise_db=-70.0, echo_db=SPEECH_DB,
                                      rt60_s=0.4, seed=1002),
    "kitchen noise at 10 dB SNR": Room(noise="kitchen", noise_db=SPEECH_DB - SNR_DB,
                                       echo_db=SPEECH_DB - 10, rt60_s=0.4, seed=1002),
}  # fmt: skip
STOPS: dict[Effort, int] = {"quick": 4, "default": 16, "full": 60}  # of each kind of word, a room
SEAMS: dict[Effort, int] = {"quick": 4, "default": 20, "full": 100}


def stops(
    condition: str, options: Options, words: Recorded | None
) -> tuple[list[Trial], list[Trial], str]:
    """Words over the box in one room: ours, the article's, and our dropouts."""
    events = options.events or STOPS[options.effort]
    found, dropouts = bench_stop.in_room(ROOMS[condition], replace(options, events=events), words)
    ours, article = ([as_trial(e) for e in found if e["by"] == by] for by in ("ours", "article"))
    lost = f"{dropouts['capture']} of capture, {dropouts['playback']} of playback"
    return ours, article, lost


def as_trial(event: dict[str, object]) -> Trial:
    """An event of `bench stop`; the verdict is not of interest here."""
    last = event["last_ms"]
    return Trial(
        str(event["name"]),
        "interruption",
        real=event["word"] == "real",
        clear=not event["click"],
        length_ms=0.0,
        left_out=str(event["left_out"]),
        missed=bool(event["missed"]),
        stop_ms=last if isinstance(last, float) else None,
    )


def seam(options: Options) -> Sheet:
    """Samples lost and repeated over pauses that were taken back."""
    events = options.events or SEAMS[options.effort]
    return bench_seam.bench(replace(options, events=events))[0]
