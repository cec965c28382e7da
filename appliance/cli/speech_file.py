"""`interlude voices say`: writes a text, spoken by any voice of the box, and its words' times."""

from __future__ import annotations

import json
import select
import time
import wave
from pathlib import Path

import numpy as np

from appliance.errors import StorageError, VoiceError
from appliance.messages.limits import MAX_WORDS
from appliance.pcm import RATE_HZ, Samples
from appliance.plain_text import spoken
from appliance.runtime.enabled import HEAD
from appliance.settings import Settings
from appliance.voice import factory
from appliance.voice.interface import Voice
from appliance.voice.spoken_words import SpokenWord

READY_S = 60.0  # timeout for a voice to load from an SD card
SAID_S = 120.0  # timeout for a minute of speech by a slow voice


def say_to_file(
    settings: Settings, text: str, name: str, out: Path, times: Path | None = None
) -> float:
    """Write `text`, spoken by the voice `name` as the box would say it, to the WAV file `out`.

    The times of its words, if the voice reports them, are written to `times` as JSON. The voice
    `head` takes no text: the language model reads it in place of its answer. Returns the seconds of
    sound. Raises VoiceError or ModelError if the voice fails, StorageError if a file cannot be
    written.
    """
    plain = spoken(text)
    if not plain:
        raise VoiceError("There is no word in this text.")
    if len(plain) > MAX_WORDS:
        raise VoiceError(
            f"The text is {len(plain)} characters long.", f"Give at most {MAX_WORDS} at a time."
        )
    if name == HEAD:
        from appliance.cli.head_speech import said_by_head  # imports llama.cpp

        sound, words = said_by_head(settings, plain)
    else:
        voice = factory.open_voice(settings, name)
        name = voice.name
        try:
            sound, words = _synthesise(voice, plain)
        finally:
            voice.close()
    try:
        with out.open("wb") as opened, wave.open(opened) as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE_HZ)
            file.writeframes(sound.astype("<i2").tobytes())
        if times is not None:
            timing = {"text": plain, "voice": name, "seconds": len(sound) / RATE_HZ,
                      "words": [_word_times(word, plain) for word in words]}  # fmt: skip
            times.write_text(json.dumps(timing, indent=1, ensure_ascii=False) + "\n", "utf-8")
    except OSError as error:
        path = error.filename or out
        raise StorageError(f"{path} cannot be written ({error.strerror}).") from error
    return len(sound) / RATE_HZ


def _synthesise(voice: Voice, text: str) -> tuple[Samples, list[SpokenWord]]:
    """The complete sound of `text` and its words. Raises VoiceError."""
    limit_s = time.monotonic() + READY_S
    while not voice.ready:
        if voice.problem or time.monotonic() > limit_s:
            raise VoiceError(voice.problem or f"The voice {voice.name} did not become ready.")
        voice.poll()
        time.sleep(0.01)
    speech, chunks = voice.synthesise(text), list[Samples]()
    limit_s = time.monotonic() + SAID_S
    while (samples := speech.read()) is not None:
        if len(samples):
            chunks.append(samples)
        elif time.monotonic() > limit_s:
            raise VoiceError(f"The voice {voice.name} did not finish in {SAID_S:g} s.")
        else:
            select.select([speech.fileno()], [], [], 0.1)
    return np.concatenate([np.empty(0, np.int16), *chunks]), list(speech.words)


def _word_times(word: SpokenWord, text: str) -> dict[str, object]:
    return {
        "word": text[word.begin : word.end],
        "characters": [word.begin, word.end],
        "begins_s": round(word.at / RATE_HZ, 4),
        "is_over_s": round(word.over / RATE_HZ, 4),
    }
