"""The speech queue: order, positions, marks, stale turns, full rings, failing voices."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.errors import UnsayableText, VoiceError
from appliance.messages.speech import EndAnswer, Speak, SpeakFailed, Spoken
from appliance.runtime.ipc.ring import END, START, WORD
from appliance.voice.chime import chime
from appliance.voice.sentence_gap import CLAUSE_GAP_FRAMES, GAP_FRAMES, JOIN_GAP_FRAMES, gap_after
from appliance.voice.speech_queue import PIECE_FRAMES, SpeechQueue, VoiceSlot
from appliance.voice.spoken_words import SpokenWord
from tests.voice.fakes import FakeVoice


class Box:
    """A speech queue, its voices and its reports."""

    def __init__(self, *voices: FakeVoice, turn: int = 0, position: int = 0) -> None:
        self.voices = list(voices) or [FakeVoice()]
        self.reports: list[Spoken | SpeakFailed] = []
        self.queue = SpeechQueue(self.voices, self.reports.append, turn, position)
        self.now_s = 100.0

    def speak(self, turn: int, number: int, text: str = "Words.") -> None:
        self.queue.push(Speak(turn, number, text), self.now_s)

    def end(self, turn: int) -> None:
        self.queue.push(EndAnswer(turn), self.now_s)

    def step(self, turn: int, room: int = 1000) -> list[VoiceSlot]:
        return self.queue.pop_slots(turn, room, self.now_s)


def joined(pieces: list[VoiceSlot]) -> np.ndarray:
    return np.concatenate([piece.samples for piece in pieces])


def test_the_pieces_are_the_synthesised_samples_exactly() -> None:
    box = Box()
    box.speak(1, 0)
    pieces = box.step(1)
    np.testing.assert_array_equal(joined(pieces), box.voices[0].sound(0))
    assert all(len(piece.samples) <= PIECE_FRAMES for piece in pieces)
    assert box.reports == [Spoken(1, 0, 0, 1000, 0.0, voice="fake")]


def test_positions_are_continuous_over_sentences_and_the_pause_between_them() -> None:
    box = Box()
    for number in range(3):
        box.speak(1, number)
    box.end(1)
    pieces = box.step(1)
    at = 0
    for piece in pieces:
        assert piece.position == at
        at += len(piece.samples)
    sound = joined(pieces)
    for report in box.reports:
        assert isinstance(report, Spoken)
        there = sound[report.position : report.position + report.frames]
        np.testing.assert_array_equal(there, box.voices[0].sound(report.number))
    first, second, _ = (r for r in box.reports if isinstance(r, Spoken))
    assert second.position == first.position + first.frames + GAP_FRAMES
    assert not sound[first.frames : second.position].any()


@pytest.mark.parametrize(
    ("before", "gap"),
    [
        ("It is far.", GAP_FRAMES),
        ("Is it “far?”", GAP_FRAMES),
        ("", GAP_FRAMES),  # unknown: said before a restart
        ("It is three days away,", CLAUSE_GAP_FRAMES),
        ("It is three days away", JOIN_GAP_FRAMES),
    ],
)
def test_the_pause_depends_on_the_end_of_the_previous_sentence(before: str, gap: int) -> None:
    assert gap_after(before) == gap


def test_two_pieces_of_a_sentence_have_the_pause_of_a_clause() -> None:
    box = Box()
    box.speak(1, 0, "It is three days away,")
    box.speak(1, 1, "and it has no air.")
    box.step(1)
    first, second = (r for r in box.reports if isinstance(r, Spoken))
    assert second.position == first.position + first.frames + CLAUSE_GAP_FRAMES


def test_the_first_piece_has_the_flag_start_and_an_empty_last_one_end() -> None:
    box = Box()
    box.speak(1, 0)
    box.speak(1, 1)
    box.end(1)
    flags = [piece.flags for piece in box.step(1)]
    assert flags == [START] + [0] * (len(flags) - 2) + [END]
    assert not box.queue.busy


def test_no_end_before_end_answer() -> None:
    box = Box()
    box.speak(1, 0)
    assert not any(piece.flags & END for piece in box.step(1))
    box.end(1)
    (last,) = box.step(1)
    assert (last.flags, last.position, len(last.samples)) == (END, 1000, 0)


def test_an_answer_without_words_is_one_empty_piece_of_start_and_end() -> None:
    box = Box()
    box.end(1)
    (only,) = box.step(1)
    assert (only.flags, only.position, len(only.samples)) == (START | END, 0, 0)


def test_a_second_end_is_ignored_and_a_late_sentence_is_refused() -> None:
    box = Box()
    box.end(1)
    box.step(1)
    box.end(1)
    assert box.step(1) == []
    box.speak(1, 0)
    assert box.step(1) == []
    assert isinstance(box.reports[0], SpeakFailed)


def test_an_empty_sentence_is_reported_with_no_frames() -> None:
    box = Box()
    box.speak(1, 0, "")
    box.speak(1, 1)
    pieces = box.step(1)
    assert box.voices[0].said == ["Words."]
    assert box.reports[0] == Spoken(1, 0, 0, 0, 0.0)
    assert pieces[0].position == 0


def test_older_turns_are_dropped_at_once() -> None:
    box = Box()
    box.voices[0].script = [[np.ones(2000, np.int16)]]  # never ends
    box.speak(1, 0)
    box.speak(1, 1)
    assert box.step(1, room=2)
    assert box.step(2) == []
    assert box.voices[0].speeches[0].cancelled
    assert not box.queue.busy
    box.speak(1, 2)
    box.end(1)
    assert box.step(2) == []
    assert box.voices[0].said == ["Words."]


def test_a_newer_turn_discards_pieces_that_wait_for_a_full_ring() -> None:
    box = Box()
    box.speak(1, 0)
    assert box.step(1, room=0) == []
    assert box.queue.waits_for_room
    box.speak(2, 0)
    pieces = box.step(2, room=1)
    assert [(p.turn, p.position, p.flags) for p in pieces] == [(2, 0, START)]
    np.testing.assert_array_equal(pieces[0].samples, box.voices[0].sound(1)[:PIECE_FRAMES])


def test_a_newer_turn_waits_for_the_floor() -> None:
    box = Box()
    box.speak(5, 0)
    assert box.step(4) == []
    assert box.voices[0].said == []
    assert box.step(5)


def test_no_more_pieces_than_room_are_returned_and_none_is_lost() -> None:
    box = Box()
    box.speak(1, 0)
    box.speak(1, 1)
    box.end(1)
    pieces: list[VoiceSlot] = []
    for _ in range(100):
        some = box.step(1, room=1)
        assert len(some) <= 1
        pieces += some
        if pieces[-1].flags & END:
            break
    sound = box.voices[0].sound
    gap = np.zeros(GAP_FRAMES, np.int16)
    np.testing.assert_array_equal(joined(pieces), np.concatenate([sound(0), gap, sound(1)]))


def test_a_sentence_is_reported_before_there_is_room_for_it() -> None:
    box = Box()
    box.speak(1, 0)
    box.step(1, room=0)
    assert box.reports == [Spoken(1, 0, 0, 1000, 0.0, voice="fake")]


def test_the_synthesis_time_is_from_the_order_to_the_first_samples() -> None:
    box = Box()
    box.voices[0].script = [[]]
    box.speak(1, 0)
    box.step(1)
    box.now_s += 0.040
    box.voices[0].speeches[0].give.extend([np.ones(400, np.int16), None])
    box.step(1)
    assert isinstance(box.reports[0], Spoken)
    assert box.reports[0].synthesis_ms == pytest.approx(40)


def test_when_a_voice_fails_the_next_one_says_the_sentence() -> None:
    piper, espeak = FakeVoice("piper"), FakeVoice("espeak")
    piper.script = [[VoiceError("The graph is broken.")]]
    box = Box(piper, espeak)
    box.speak(1, 0, "First.")
    box.speak(1, 1, "Second.")
    box.step(1)
    assert piper.said == ["First."]
    assert espeak.said == ["First.", "Second."]
    assert [type(report) for report in box.reports] == [Spoken, Spoken]


def test_a_sentence_that_fails_halfway_is_reported_as_far_as_it_came() -> None:
    piper, espeak = FakeVoice("piper"), FakeVoice("espeak")
    piper.script = [[np.ones(500, np.int16), VoiceError("Broken.")]]
    box = Box(piper, espeak)
    box.speak(1, 0, "First.")
    box.speak(1, 1, "Second.")
    box.step(1)
    assert espeak.said == ["Second."]
    assert box.reports[0] == Spoken(1, 0, 0, 500, 0.0, voice="piper")


def test_a_failure_of_the_last_voice_is_reported_and_later_retried() -> None:
    box = Box()
    box.voices[0].refuses = VoiceError("No program.")
    box.speak(1, 0)
    box.step(1)
    assert box.reports == [SpeakFailed(1, 0, "No program.")]
    box.voices[0].refuses = None
    box.speak(1, 1)
    assert box.step(1)[0].flags == START


def test_after_a_restart_the_queue_continues_at_the_end_of_the_ring() -> None:
    box = Box(turn=7, position=3200)
    box.speak(7, 4)
    pieces = box.step(7)
    assert (pieces[0].position, pieces[0].flags) == (3200, 0)
    assert isinstance(box.reports[0], Spoken)
    assert box.reports[0].position == 3200 + GAP_FRAMES


# ── preparation ──────────────────────────────────────────────────────────────────────────────────
def test_a_prepared_sentence_is_not_synthesised_again() -> None:
    box = Box()
    box.queue.prepare("It is far.")
    assert not box.queue.busy  # it was not requested yet
    assert box.step(0) == []
    box.speak(1, 0, "It is far.")
    box.speak(1, 1, "It is cold.")
    sound = joined(box.step(1))
    assert box.voices[0].said == ["It is far.", "It is cold."]
    np.testing.assert_array_equal(sound[:1000], box.voices[0].sound(0))


def test_a_prepared_sentence_that_is_not_requested_is_cancelled() -> None:
    box = Box()
    box.queue.prepare("It is far.")
    box.speak(1, 0, "Yes.")
    np.testing.assert_array_equal(joined(box.step(1)), box.voices[0].sound(1))
    assert box.voices[0].speeches[0].cancelled


def test_nothing_is_prepared_while_the_box_speaks() -> None:
    box = Box()
    box.speak(1, 0, "Yes.")
    box.queue.prepare("It is far.")
    box.step(1)
    assert box.voices[0].said == ["Yes."]


def test_stop_cancels_the_prepared_sentence() -> None:
    box = Box()
    box.queue.prepare("It is far.")
    box.queue.stop()
    assert box.voices[0].speeches[0].cancelled


# ── words ────────────────────────────────────────────────────────────────────────────────────────
def test_words_are_reported_and_each_begins_a_slot_with_the_flag_word() -> None:
    box = Box()
    box.speak(1, 0, "A.")
    box.step(1)
    box.voices[0].script = [[]]
    box.speak(1, 1, "Good moon.")
    box.step(1)
    speech = box.voices[0].speeches[1]
    speech.words = [SpokenWord(0, 4, 30, 400), SpokenWord(5, 10, 500, 780)]
    speech.give.extend([np.ones(600, np.int16), np.ones(200, np.int16), None])
    pieces = box.step(1)
    report = box.reports[1]
    assert isinstance(report, Spoken)
    assert report.words == ((4, 400), (10, 780))
    begins = [piece.position - report.position for piece in pieces if piece.flags & WORD]
    assert begins == [30, 500]
    assert len(joined(pieces)) == GAP_FRAMES + 800  # no sample is lost


def test_a_chime_before_a_sentence_shifts_its_words() -> None:
    box = Box()
    box.voices[0].script = [[]]
    box.queue.push(Speak(1, 0, "Moon.", chime=True), box.now_s)
    box.step(1)
    speech = box.voices[0].speeches[0]
    speech.words = [SpokenWord(0, 5, 10, 800)]
    speech.give.extend([np.ones(900, np.int16), None])
    (first, *_) = [piece for piece in box.step(1) if piece.flags & WORD]
    (report,) = box.reports
    assert isinstance(report, Spoken)
    assert (first.position, report.words) == (len(chime()) + 10, ((5, len(chime()) + 800),))


def test_words_of_a_dropped_answer_do_not_mark_the_next() -> None:
    box = Box()
    box.voices[0].script = [[]]
    box.speak(1, 0, "Moon.")
    box.step(1)
    speech = box.voices[0].speeches[0]
    speech.words = [SpokenWord(0, 5, 320, 1600)]
    speech.give.append(np.ones(320, np.int16))
    box.step(1)
    box.speak(2, 0)
    assert not any(piece.flags & WORD for piece in box.step(2))


# ── unsayable text ───────────────────────────────────────────────────────────────────────────────
def test_only_the_sentences_that_a_voice_cannot_say_go_to_the_next_voice(
    caplog: pytest.LogCaptureFixture,
) -> None:
    hibari, espeak = FakeVoice("hibari"), FakeVoice("espeak")
    hibari.script = [[UnsayableText("Another script.")] for _ in range(2)]
    box = Box(hibari, espeak)
    for number, text in enumerate(("Это.", "Дом.", "Third.")):
        box.speak(1, number, text)
    box.step(1)
    assert espeak.said == ["Это.", "Дом."]
    assert hibari.said == ["Это.", "Дом.", "Third."]
    spoken = [report for report in box.reports if isinstance(report, Spoken)]
    assert [report.voice for report in spoken] == ["espeak", "espeak", "hibari"]
    assert [report.passed_on for report in spoken] == [True, True, False]
    assert [record.message for record in caplog.records] == [
        "Another script. espeak says it, and others like it."
    ]


def test_a_foreseen_unsayable_text_is_not_counted_as_passed_on() -> None:
    head, hibari = FakeVoice("head"), FakeVoice("hibari")
    head.refuses = UnsayableText("The model did not draw it.", foreseen=True)
    box = Box(head, hibari)
    box.speak(1, 0)
    box.step(1)
    (report,) = box.reports
    assert isinstance(report, Spoken)
    assert (report.voice, report.passed_on) == ("hibari", False)


def test_a_sentence_whose_voice_fails_is_counted_as_passed_on() -> None:
    piper, espeak = FakeVoice("piper"), FakeVoice("espeak")
    piper.script = [[VoiceError("Broken.")]]
    box = Box(piper, espeak)
    box.speak(1, 0)
    box.step(1)
    (report,) = box.reports
    assert isinstance(report, Spoken)
    assert (report.voice, report.passed_on) == ("espeak", True)


def test_a_sentence_that_no_voice_can_say_is_reported() -> None:
    box = Box()
    box.voices[0].script = [[UnsayableText("Another script.")]]
    box.speak(1, 0)
    box.step(1)
    assert box.reports == [SpeakFailed(1, 0, "Another script.")]
