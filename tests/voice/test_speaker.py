"""The speaker process: slots, full rings, stale turns, restarts, broken voices."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from appliance.messages.commands import SetVoice, StatusWanted, VoicesAvailable
from appliance.messages.speech import SpeakerReady, SpeakFailed, Spoken
from appliance.runtime.ipc.ring import START
from appliance.voice.espeak import EspeakVoice
from tests.voice import bundles
from tests.voice.programs import SAYS_IT
from tests.voice.rig import Rig

pytestmark = pytest.mark.process


LONG = "This is a sentence of some length, said so that the ring has to fill up at last. "


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with Rig(tmp_path, "en") as made:
        yield made


@pytest.fixture
def quick(tmp_path: Path) -> Iterator[Rig]:
    """With the voice that costs least, where the voice does not matter."""
    with Rig(tmp_path, "en", voice="espeak") as made:
        yield made


def test_an_answer_arrives_completely_with_reported_positions(rig: Rig) -> None:
    rig.until_it_speaks("hibari")
    rig.say(1, "The moon is near.", "It is made of rock.")
    rig.until(lambda: rig.ended(1))
    assert rig.slots[0].flags & START
    at = 0
    for slot in rig.slots:
        assert (slot.stream, slot.position) == (1, at)
        at += len(slot.samples)
    sound = np.concatenate([slot.samples for slot in rig.slots])
    first, second = rig.told(Spoken)
    assert (first.position, second.position + second.frames) == (0, at)
    assert not sound[first.frames : second.position].any()


def test_a_status_request_is_answered_with_the_voice_and_the_available_ones(rig: Rig) -> None:
    rig.until_it_speaks("hibari")
    rig.until_it_offers(("hibari", "espeak"))
    rig.messages.clear()
    rig.mail.send(StatusWanted())
    rig.until(lambda: rig.told(VoicesAvailable))
    assert rig.told(SpeakerReady) == [SpeakerReady("hibari")]
    assert rig.told(VoicesAvailable) == [VoicesAvailable(("hibari", "espeak"))]


def test_the_speaker_waits_for_a_full_ring_and_loses_nothing(quick: Rig) -> None:
    quick.say(1, LONG * 3)
    quick.reads = False
    quick.until(lambda: quick.told(Spoken))
    quick.reads = True
    time.sleep(0.1)  # it must not overwrite unread slots: give it time to try
    assert quick.reader.lost == 0
    quick.until(lambda: quick.ended(1))
    assert quick.reader.lost == 0
    assert quick.frames == quick.told(Spoken)[0].frames


def test_a_newer_turn_stops_an_answer_that_waits_for_room(quick: Rig) -> None:
    quick.say(1, LONG * 3, LONG, LONG)
    quick.reads = False
    quick.until(lambda: quick.told(Spoken))
    quick.reads = True
    quick.say(2, "Yes.")
    quick.until(lambda: quick.ended(2))
    old = [slot for slot in quick.slots if slot.stream == 1]
    assert len(old) <= 128 + 5  # the content of the ring, and less than 50 ms more
    new = [slot for slot in quick.slots if slot.stream == 2]
    assert (new[0].position, new[0].flags) == (0, START)
    assert {spoken.turn for spoken in quick.told(Spoken)} == {1, 2}


def test_a_killed_speaker_continues_at_the_end_of_the_ring(quick: Rig) -> None:
    quick.say(1, "The first sentence.", end=False)
    quick.until(lambda: quick.told(Spoken) and quick.frames == quick.told(Spoken)[0].frames)
    os.kill(quick.pid, signal.SIGKILL)
    quick.until(lambda: len(quick.told(SpeakerReady)) >= 2, 30)
    first = quick.told(Spoken)[0]
    quick.say(1, "The second sentence.")
    quick.until(lambda: quick.ended(1))
    second = quick.told(Spoken)[1]
    assert second.position > first.frames
    assert [slot.flags & START for slot in quick.slots].count(START) == 1
    positions = [slot.position for slot in quick.slots]
    assert positions == sorted(positions)


def test_espeak_speaks_while_a_voice_is_loading(
    tmp_path: Path,
) -> None:
    """Its program does not answer before a file exists."""
    loaded = tmp_path / "loaded"
    bundles.fetched(tmp_path, "slow")
    waits = f"import os, time\nwhile not os.path.exists({str(loaded)!r}):\n    time.sleep(0.05)\n"
    bundles.plant(tmp_path / "voices", waits + SAYS_IT)
    with Rig(tmp_path, "en") as rig:
        assert rig.told(SpeakerReady) == [SpeakerReady("espeak")]
        rig.say(1, "Hello.")
        rig.until(lambda: rig.ended(1))
        assert rig.voice_pid("slow")
        loaded.touch()
        rig.until(lambda: rig.told(SpeakerReady)[-1] == SpeakerReady("slow"), 60)
        rig.say(2, "Hello.")
        rig.until(lambda: rig.ended(2))
        assert [spoken.frames for spoken in rig.told(Spoken, 2)] == [800]


def test_an_unknown_voice_is_replaced_by_hibari(tmp_path: Path) -> None:
    with Rig(tmp_path, "en", voice="nobody") as rig:
        rig.until_it_speaks("hibari")
        rig.say(1, "Hello.")
        rig.until(lambda: rig.ended(1))


def test_a_voice_with_its_program_speaks_and_a_damaged_one_is_not_offered(tmp_path: Path) -> None:
    model = bundles.fetched(tmp_path, "mine")
    bundles.fetched(tmp_path, "other").write_bytes(b"not a network")
    bundles.plant(tmp_path / "voices")
    with Rig(tmp_path, "en") as rig:
        rig.until_it_speaks("mine")
        rig.say(1, "Hello there.")
        rig.until(lambda: rig.ended(1))
        assert rig.told(Spoken)[0].frames > 8000
        wanted = ("mine", "hibari", "espeak")  # `other` was tried, and so was hibari
        rig.until(lambda: rig.told(VoicesAvailable)[-1].voices == wanted, 90)
        rig.until(lambda: not rig.children() - {rig.voice_pid("mine")}, 90)
    model.write_bytes(b"not a network")
    with Rig(tmp_path, "en") as rig:
        rig.until_it_speaks("hibari")
        rig.until_it_offers(("hibari", "espeak"))


def test_a_voice_installed_later_speaks_without_a_restart(tmp_path: Path) -> None:
    with Rig(tmp_path, "en") as rig:
        rig.until_it_offers(("hibari", "espeak"))
        bundles.fetched(tmp_path, "mine")
        bundles.plant(tmp_path / "voices")
        rig.until(lambda: rig.told(SpeakerReady)[-1] == SpeakerReady("mine"), 60)
        wanted = ("mine", "hibari", "espeak")
        rig.until(lambda: rig.told(VoicesAvailable)[-1].voices == wanted, 60)
        rig.say(1, "Hello there.")
        rig.until(lambda: rig.ended(1))
        assert rig.told(SpeakFailed) == []


def test_a_voice_whose_program_is_missing_is_not_offered(tmp_path: Path) -> None:
    bundles.fetched(tmp_path, "mine")
    with Rig(tmp_path, "en", voice="mine") as rig:
        rig.until_it_speaks("hibari")
        rig.until_it_offers(("hibari", "espeak"))


def test_a_killed_program_loses_no_sentence_and_speaks_again(tmp_path: Path) -> None:
    bundles.fetched(tmp_path, "mine")
    bundles.plant(tmp_path / "voices")
    with Rig(tmp_path, "en", voice="mine") as rig:
        first = rig.voice_pid("mine")
        os.kill(first, signal.SIGSTOP)  # so that the sentence is in progress when it is killed
        rig.say(1, "Hello there.", "And again.", end=False)
        rig.until(lambda: rig.frames or Path(f"/proc/{first}/stat").read_text().split()[2] == "T")
        os.kill(first, signal.SIGKILL)
        rig.until(lambda: len(rig.told(Spoken)) == 2)
        assert min(spoken.frames for spoken in rig.told(Spoken)) > 4000  # espeak-ng said them
        rig.until(lambda: rig.voice_pid("mine") not in (0, first))
        assert rig.told(SpeakFailed) == []


GERMAN = "Das Licht in der Küche brennt, und die Katze schläft."


def said_in(rig: Rig, language: str, text: str) -> Spoken:
    """Say `text` in one answer after another until its language is identified: the model takes a
    second to load."""
    for turn in range(rig.floor.turn + 1, rig.floor.turn + 100):
        rig.say(turn, text)
        rig.until(lambda turn=turn: rig.ended(turn))  # type: ignore[misc]
        spoken: Spoken = rig.told(Spoken)[-1]
        if spoken.language == language:
            return spoken
    raise AssertionError(f"it is never {language}")


def length(text: str, language: str) -> int:
    """The number of samples that espeak-ng makes of the text in that language."""
    speech, frames = EspeakVoice(165, language=language).synthesise(text), 0
    while (samples := speech.read()) is not None:
        frames += len(samples)
    return frames


def test_without_a_german_voice_espeak_says_german_sentences(
    tmp_path: Path,
) -> None:
    with Rig(tmp_path) as rig:
        assert said_in(rig, "en", "The light in the kitchen is on.").frames
        german = said_in(rig, "de", GERMAN)
        assert german.frames == length(GERMAN, "de") != length(GERMAN, "en")
        assert said_in(rig, "de", "Okay.").frames == length("Okay.", "de")
        assert rig.told(SpeakFailed) == []


def test_an_installed_german_voice_says_only_german_sentences(tmp_path: Path) -> None:
    bundles.fetched(tmp_path, "thorsten", espeak="de")
    bundles.plant(tmp_path / "voices")
    with Rig(tmp_path) as rig:
        rig.until_it_speaks("hibari")
        said_in(rig, "de", GERMAN)
        rig.until(lambda: rig.voice_pid("thorsten"), 60)
        turn = rig.floor.turn
        while True:  # espeak-ng speaks until the voice is loaded
            turn += 1
            rig.say(turn, GERMAN)
            rig.until(lambda turn=turn: rig.ended(turn))  # type: ignore[misc]
            if rig.told(Spoken)[-1].frames != length(GERMAN, "de"):
                break
        assert said_in(rig, "en", "The light in the kitchen is on.").frames
        assert rig.told(SpeakFailed) == []


def test_the_language_of_the_very_first_sentence_is_identified(tmp_path: Path) -> None:
    with Rig(tmp_path, voice="espeak") as rig:
        rig.say(1, GERMAN)
        rig.until(lambda: rig.ended(1))
        assert [spoken.language for spoken in rig.told(Spoken)] == ["de"]


def test_espeak_chosen_from_outside_also_says_german_sentences(
    tmp_path: Path,
) -> None:
    bundles.fetched(tmp_path, "thorsten", espeak="de")
    bundles.plant(tmp_path / "voices")
    with Rig(tmp_path) as rig:
        rig.mail.send(SetVoice("espeak"))
        rig.until(lambda: rig.told(SpeakerReady)[-1] == SpeakerReady("espeak"))
        for turn in range(1, 6):
            rig.say(turn, GERMAN)
            rig.until(lambda turn=turn: rig.ended(turn))  # type: ignore[misc]
            assert rig.told(Spoken)[-1].frames == length(GERMAN, "de")


def test_with_language_german_the_german_voice_speaks_from_the_start(
    tmp_path: Path,
) -> None:
    bundles.fetched(tmp_path, "mine")
    bundles.fetched(tmp_path, "thorsten", espeak="de")
    bundles.plant(tmp_path / "voices")
    with Rig(tmp_path, language="de") as rig:
        rig.until_it_speaks("thorsten")
        rig.say(1, "Ja.")
        rig.until(lambda: rig.ended(1))
        assert rig.told(Spoken)[0].language == "de"
