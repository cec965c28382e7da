"""`interlude enrol`: adapts the verdict's network to the owner's own "mm-hm" and "wait".

It shows each word on the screen and records it from the microphone, or reads recordings from a
folder. It prints the improvement and saves the fitted layer; the recordings are saved only with
--keep. All of it stays on the box.
"""

from __future__ import annotations

import functools
import os
import sys
import wave
from collections.abc import Callable, Iterable
from pathlib import Path

from appliance.audio.recorder import record
from appliance.audio.sound_file import read_sound
from appliance.errors import StorageError
from appliance.hear.bargein import adaptation, enrolment, network, recordings
from appliance.hear.bargein.enrolment import EnrolmentError, EnrolmentRecording, ScoredRecording
from appliance.messages.enrolling import TAKE_S, WORDS
from appliance.messages.hearing import Judgement
from appliance.pcm import RATE_HZ, Samples, from_float
from appliance.runtime import enrolled_files
from appliance.settings import Settings

TAKES = 4

RecordSound = Callable[[float, Callable[[], None]], Samples]


def cli_enrol(settings: Settings, *, folder: Path | None, keep: bool, takes: int = TAKES) -> int:
    """Record the words or read them from `folder`, fit the layer, and save it if it helps.

    `keep`: save the recordings too. Returns the exit code. Raises InterludeError.
    """
    state = settings.state_path()
    classifier = network.VerdictNetwork()
    if folder is not None:
        takes_ = read_recordings(folder)
    else:
        count = "once" if takes == 1 else f"{takes} times"
        minutes = max(1, round(len(WORDS) * takes * (TAKE_S + 0.5) / 60))
        _print_line(
            f"Say each word as you would while the box talks, {count}: about {minutes} min. "
            "Ctrl-C ends it, and nothing is kept."
        )
        takes_ = record_takes(
            lambda seconds, started: record(settings.card, seconds, started), takes
        )
    scored = usable(takes_, settings, classifier)
    result = enrolment.learn(scored, adaptation.anchors(), network.fingerprint())
    _print_line(f"{result.takes} recordings, each judged after learning from the others: "
         f"{result.before:.0%} right as shipped, {result.after:.0%} with yours.")  # fmt: skip
    if not result.helps:
        return _print_line("That is no better than as shipped: nothing was changed.")
    path = adaptation.save(result.adaptation, state)
    if keep:
        keep_recordings((h.take for h in scored), state)
    _print_line(f"Saved in {path}; `interlude enrol --forget` deletes it.")
    return _print_line("A running box uses it after its next restart.")


def cli_forget(settings: Settings) -> int:
    """Erase the fitted layer and the recordings. Returns the exit code. Raises StorageError."""
    state = settings.state_path()
    existed = enrolled_files.is_there(state)
    if failed := enrolled_files.forget(state):
        raise StorageError(
            f"Not all is forgotten: {failed[0].path} cannot be erased ({failed[0].why})."
        )
    if not existed:
        return _print_line("There was nothing to forget.")
    return _print_line("Forgotten. A running box still uses it until its next restart.")


def record_takes(recording: RecordSound, takes: int) -> Iterable[EnrolmentRecording]:
    """Record each word `takes` times, prompting the owner on the screen."""
    for number in range(1, takes + 1):
        for word, kind in WORDS.items():
            _print_line(f"\n{number} of {takes}: get ready …")
            samples = recording(TAKE_S, functools.partial(_started, word))
            yield EnrolmentRecording(f"{word} {number}", kind, samples)


def read_recordings(folder: Path) -> Iterable[EnrolmentRecording]:
    """Recordings in folders named after their word: `mm-hm/*.wav`, `wait/*.flac`. Raises
    RecordingError for a folder without any."""
    for source in recordings.find(folder).of("backchannel", "interruption"):
        kind: Judgement = "backchannel" if source.kind == "backchannel" else "interruption"
        yield EnrolmentRecording(source.name, kind, from_float(read_sound(source.path)))


def usable(
    takes: Iterable[EnrolmentRecording], settings: Settings, classifier: network.VerdictNetwork
) -> list[ScoredRecording]:
    """Score the recordings. Those that cannot be used are left out and printed with the reason."""
    scored = []
    for take in takes:
        try:
            scored.append(enrolment.score(take, settings.hearing, classifier))
        except EnrolmentError as error:
            _print_line(f"Left out: {error}")
    return scored


def keep_recordings(takes: Iterable[EnrolmentRecording], state: Path) -> None:
    """Save the recordings as WAV files of mode 0600. Raises StorageError."""
    folder = state / enrolled_files.FOLDER
    try:
        for take in takes:
            path = folder / take.kind / f"{take.name.replace('/', '-')}.wav"
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "wb") as file, wave.open(file, "wb") as wav:
                wav.setnchannels(1)
                wav.setsampwidth(2)
                wav.setframerate(RATE_HZ)
                wav.writeframes(take.samples.tobytes())
    except OSError as error:
        raise StorageError(f"{folder}: could not be written ({error.strerror}).") from error


def _started(word: str) -> None:
    _print_line(f'  Say now:  "{word}"')


def _print_line(line: str) -> int:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
    return 0
