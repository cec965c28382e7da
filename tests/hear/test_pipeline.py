"""The hearing pipeline: timely onsets, complete utterances, no reaction to the box's own voice."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from appliance.hear.endpointing import TRAILING_FRAMES
from appliance.hear.onset.highpass import HighPass
from appliance.hear.pipeline import HearingPipeline
from appliance.hear.speech_phase import SpeechPhase
from appliance.hear.utterance_stream import SpeechSlot
from appliance.messages.hearing import Onset, Opinion, SpeechEnded, SpeechStarted, Verdict
from appliance.pcm import Samples, from_float
from appliance.runtime.ipc.ring import END, START
from appliance.settings import HearingSettings
from lab.bench.bench_speech import espeak_talk
from lab.bench.interruption_cost import double_talk
from tests import skips
from tests.hear.arena import (
    ANSWER,
    INDEX,
    RECORDINGS,
    Room,
    Run,
    Wave,
    at_level,
    recording,
    run,
    say,
    track,
    words,
)

NOTHING = np.zeros(80, np.int16)


def heard_of(result: Run, utterance: int) -> tuple[Samples, list[SpeechSlot]]:
    chunks = [c for _, c in result.of(SpeechSlot) if c.utterance == utterance]
    return np.concatenate([c.samples for c in chunks]), chunks


def without_offset(owner: Wave) -> Samples:
    """The microphone's samples as the pipeline outputs them when there is no echo."""
    high = HighPass(20, order=2, rate_hz=16_000, frames=80)
    blocks = from_float(owner)[: len(owner) // 80 * 80].reshape(-1, 80)
    return np.concatenate([np.rint(high(s[:, None].astype(float))[:, 0]) for s in blocks]).astype(
        np.int16
    )


def delays_ms(result: Run, onsets: list[int]) -> tuple[list[float], int]:
    """The delay of each detected onset, and the number of onsets missed for half a second."""
    detected = [at for at, _ in result.of(Onset)]
    found = [next((at - true for at in detected if 0 < at - true < 8000), None) for true in onsets]
    return [each / 16 for each in found if each is not None], found.count(None)


@pytest.mark.process
def test_speech_in_a_quiet_room_is_detected_within_25_ms(settings: HearingSettings) -> None:
    phrases = ["stop", "wait", "right", "yes", "what about the sea", "hello", "four"]
    sounds = [at_level(say(p, v)) for p in phrases for v in ("en-us", "en-gb", "en-us+f3")]
    owner, onsets = track(sounds, lead_s=2, gap_s=1.0)
    result = run(HearingPipeline(settings), owner)
    delays, missed = delays_ms(result, onsets)
    assert missed == 0
    assert np.median(delays) <= 25
    assert np.percentile(delays, 95) <= 60
    assert len(result.of(SpeechEnded)) == len(sounds)


@pytest.mark.process
@pytest.mark.skipif(not RECORDINGS.is_dir(), reason=skips.RECORDINGS)
def test_recorded_words_are_detected_within_25_ms(settings: HearingSettings) -> None:
    sounds = [at_level(w) for word in ("yes", "no", "stop", "right") for w in words(word, 8)]
    owner, onsets = track(sounds, lead_s=2, gap_s=1.2)
    delays, missed = delays_ms(run(HearingPipeline(settings), owner), onsets)
    assert missed <= 3
    assert np.median(delays) <= 25


@pytest.mark.long
def test_steady_noise_at_any_level_causes_no_onset_after_the_first_second(
    settings: HearingSettings,
) -> None:
    for noise_db in (-70, -50, -30):
        result = run(HearingPipeline(settings), np.zeros(6 * 16_000), noise_db=noise_db)
        assert len([at for at, _ in result.of(Onset) if at > 16_000]) == 0


def test_a_new_noise_causes_one_retracted_onset_and_is_then_learned(
    settings: HearingSettings,
) -> None:
    noise = np.random.default_rng(1).standard_normal(5 * 16_000) * 0.02
    noise[: 2 * 16_000] *= 0.01
    result = run(HearingPipeline(settings), noise)
    [(at, onset)] = result.of(Onset)
    [(taken_back_at, verdict)] = result.of(Verdict)
    assert 0 < at - 2 * 16_000 < 400
    assert (verdict.kind, verdict.serial) == ("noise", onset.serial)
    assert taken_back_at - at <= 310 * 16  # guarded: the room is not known yet


def test_a_word_right_after_a_false_alarm_is_detected(settings: HearingSettings) -> None:
    rng = np.random.default_rng(2)
    clatter = rng.standard_normal(800) * 0.1 * np.exp(-np.arange(800) / 200)
    owner, [_, word] = track([clatter, at_level(say("stop"))], lead_s=2, gap_s=0.2)
    result = run(HearingPipeline(settings), np.append(owner, np.zeros(16_000)))
    delays, missed = delays_ms(result, [word])
    assert missed == 0
    assert delays[0] < 150
    assert len(result.of(SpeechStarted)) == 1


def test_an_utterance_begins_300_ms_before_its_onset_and_loses_no_sample(
    settings: HearingSettings,
) -> None:
    owner, [true] = track([at_level(say("tell me about the moon"))], lead_s=2, gap_s=1)
    result = run(HearingPipeline(settings), owner, noise_db=None)
    [(_, started)] = result.of(SpeechStarted)
    [(ended_at, ended)] = result.of(SpeechEnded)
    samples, chunks = heard_of(result, started.utterance)
    first = chunks[0].index - INDEX
    assert abs(started.index - INDEX - true) < 30 * 16
    assert first == started.index - INDEX - 300 * 16
    assert np.array_equal(samples, without_offset(owner)[first : first + len(samples)])
    assert ended.frames == len(samples)
    assert ended.last
    assert (chunks[0].flags & START, chunks[-1].flags & END) == (START, END)
    true_end = true + len(say("tell me about the moon"))
    assert abs(ended.index - INDEX - true_end) < 120 * 16
    assert first + len(samples) <= ended.index - INDEX + TRAILING_FRAMES
    assert ended_at - (ended.index - INDEX) < 520 * 16


@pytest.mark.long
def test_a_long_turn_is_sent_in_pieces_without_losing_a_sample(settings: HearingSettings) -> None:
    turn = msgspec.structs.replace(settings.turn, piece_s=5)
    speech = at_level(np.tile(say("and then we went to the sea"), 9))
    owner, _ = track([speech], lead_s=1, gap_s=1)
    result = run(
        HearingPipeline(msgspec.structs.replace(settings, turn=turn)), owner, noise_db=None
    )
    ends = [end for _, end in result.of(SpeechEnded)]
    samples, chunks = heard_of(result, 1)
    first = chunks[0].index - INDEX
    assert [end.last for end in ends] == [False] * (len(ends) - 1) + [True]
    assert len(ends) >= 3
    assert np.diff([0, *(end.frames for end in ends)]).max() <= 5 * 16_000
    assert ends[-1].frames == len(samples)
    assert np.array_equal(samples, without_offset(owner)[first : first + len(samples)])


@pytest.mark.process
def test_the_box_does_not_interrupt_itself(settings: HearingSettings) -> None:
    answer = at_level(np.concatenate([say(ANSWER), say(ANSWER, "en-gb")]), -20)
    result = run(HearingPipeline(settings), np.zeros(25 * 16_000), answer=answer)
    assert [v for _, v in result.of(Verdict) if v.kind == "interruption"] == []
    assert result.of(SpeechStarted) == []
    assert len([at for at, _ in result.of(Onset) if at > 10 * 16_000]) <= 2


@pytest.mark.process
@pytest.mark.parametrize(
    ("again", "first_s", "echo_db"), [(True, 0.25, -12.0), (True, 0.1, -10.0), (False, 0.4, -12.0)]
)
def test_a_new_listener_hears_who_calls_again_and_again_over_an_answer(
    settings: HearingSettings, again: bool, first_s: float, echo_db: float
) -> None:
    """The listener starts within an answer that is much louder than the owner; with `again` it
    follows one that ended. The owner was once taken for a television until the answer's end."""
    owner, _ = track([at_level(say("hello", speed=165))] * 6, lead_s=first_s, gap_s=0.6)
    hearing = HearingPipeline(settings, again=again)
    hearing.answering = True
    result = run(hearing, owner, answer=at_level(say(ANSWER), -20), echo_db=echo_db)
    interrupted = [at for at, verdict in result.of(Verdict) if verdict.kind == "interruption"]
    assert interrupted[:1]
    assert interrupted[0] < 6 * 16_000


@pytest.mark.process
def test_words_over_the_box_are_detected(talking_for_7_s: Room) -> None:
    sounds = [at_level(say(p, v)) for p in ("stop", "no", "wait") for v in ("en-us", "en-gb+f2")]
    owner, onsets = track(sounds, lead_s=1, gap_s=2.5)
    result = talking_for_7_s.hear(owner, seed=1)
    delays, missed = delays_ms(result, [7 * 16_000 + onset for onset in onsets])
    assert missed <= 1
    assert np.median(delays) < 100


@pytest.mark.process
def test_a_backchannel_is_dropped_and_an_interruption_is_sent_completely(
    talking_for_7_s: Room,
) -> None:
    phrases = [at_level(say("[[m'mh'm]]")), at_level(say("wait, tell me about the moon instead"))]
    owner, onsets = track(phrases, lead_s=0, gap_s=2)
    hum, wait = (7 * 16_000 + onset for onset in onsets)
    result = talking_for_7_s.hear(owner, seed=1)
    [started] = [s for _, s in result.of(SpeechStarted)]
    assert wait - 100 * 16 < started.index - INDEX < wait + 60 * 16
    assert {c.utterance for _, c in result.of(SpeechSlot)} == {started.utterance}
    serials = [s.serial for at, s in result.of(Onset) if hum < at]
    verdicts = {v.serial: v.kind for _, v in result.of(Verdict)}
    assert verdicts[serials[0]] == "backchannel"
    assert verdicts[started.serial] == "interruption"
    samples, _ = heard_of(result, started.utterance)
    assert len(samples) > len(phrases[1])


@pytest.mark.long
def test_the_pre_roll_does_not_change_the_opinions(settings: HearingSettings) -> None:
    owner, _ = track([at_level(say("wait"))], lead_s=3, gap_s=1)
    answer = at_level(say(ANSWER), -20)
    found = []
    for preroll_ms in (0, 1000):
        turn = msgspec.structs.replace(settings.turn, preroll_ms=preroll_ms)
        result = run(
            HearingPipeline(msgspec.structs.replace(settings, turn=turn)), owner, answer=answer
        )
        found.append([opinion for _, opinion in result.of(Opinion)])
    assert found[0]
    assert found[0] == found[1]


@pytest.mark.process
def test_every_onset_gets_exactly_one_outcome(settings: HearingSettings) -> None:
    sounds = [at_level(say(p)) for p in ("yes", "what about the sea", "[[m'mh'm]]", "stop")]
    owner, _ = track(sounds, lead_s=1, gap_s=1.5)
    answer = at_level(say(ANSWER), -20)[: 3 * 16_000]  # it has ended before the last sound
    result = run(HearingPipeline(settings), owner, answer=answer)
    serials = [event.serial for _, event in result.of(Onset)]
    assert serials == list(range(1, len(serials) + 1))
    ends = [v.serial for _, v in result.of(Verdict)]
    started = [s.serial for _, s in result.of(SpeechStarted)]
    interrupted = [v.serial for _, v in result.of(Verdict) if v.kind == "interruption"]
    alone = [s for s in started if s not in interrupted]
    assert sorted(ends + alone) == serials
    assert (len(interrupted), len(alone)) == (1, 1), "over the answer, and after it"
    assert started == [e.utterance for _, e in result.of(SpeechEnded)]


def feed(hearing: HearingPipeline, wave: Wave, index: int) -> Run:
    result = Run()
    for at in range(0, len(wave) - 79, 80):
        for event in hearing.process(from_float(wave[at : at + 80]), NOTHING, index + at):
            result.events.append((at, event))
    return result


def test_a_few_lost_slots_do_not_end_an_utterance(settings: HearingSettings) -> None:
    hearing, speech = HearingPipeline(settings), at_level(say("tell me about the moon"))
    feed(hearing, np.append(np.zeros(8000), speech[:8000]), 0)
    assert hearing._phase is SpeechPhase.SPEECH
    after = feed(hearing, np.append(speech[9600:], np.zeros(16_000)), 16_000 + 1600)
    [(_, ended)] = after.of(SpeechEnded)
    assert ended.last
    assert ended.index > 17_600


@pytest.mark.parametrize("jump", [-8000, 60_000, 10**9])
def test_a_jump_of_the_index_ends_the_utterance_and_the_next_one_is_detected(
    settings: HearingSettings, jump: int
) -> None:
    hearing, speech = HearingPipeline(settings), at_level(say("tell me about the moon"))
    feed(hearing, np.append(np.zeros(8000), speech[:8000]), 0)
    after = feed(hearing, np.concatenate([np.zeros(8000), speech, np.zeros(16_000)]), 16_000 + jump)
    ends = [end for _, end in after.of(SpeechEnded)]
    assert [end.utterance for end in ends] == [1, 2]
    assert all(end.last for end in ends)
    [(_, onset)] = after.of(Onset)
    assert abs(onset.index - (16_000 + jump + 8000)) < 1600


def test_flush_ends_the_utterance_under_way(settings: HearingSettings) -> None:
    hearing, speech = HearingPipeline(settings), at_level(say("tell me about the moon"))
    feed(hearing, np.append(np.zeros(8000), speech[:8000]), 0)
    assert isinstance(hearing.flush()[-1], SpeechEnded)
    assert hearing.flush() == []


@pytest.mark.parametrize("name", ["zeros", "offset", "square", "full scale", "noise"])
@pytest.mark.long
def test_degenerate_input_causes_few_onsets_and_speech_is_detected_afterwards(
    settings: HearingSettings, name: str
) -> None:
    t = np.arange(5 * 16_000)
    wave = {
        "zeros": np.zeros(len(t)),
        "offset": np.full(len(t), 0.5),
        "square": np.where(t // 40 % 2, 1.0, -1.0),
        "full scale": np.full(len(t), -1.0),
        "noise": np.sign(np.random.default_rng(0).standard_normal(len(t))),
    }[name]
    result = feed(HearingPipeline(settings), wave, 0)
    assert len(result.of(Onset)) <= 3
    speech = at_level(say("tell me about the moon"))
    hearing = HearingPipeline(settings)
    feed(hearing, wave[:32_000], 0)
    silence = np.zeros(32_000)
    after = feed(hearing, np.concatenate([silence, speech, silence]), 32_000)
    assert len([s for _, s in after.of(SpeechStarted)]) == 1


@pytest.mark.skipif(not RECORDINGS.is_dir(), reason=skips.RECORDINGS)
@pytest.mark.long
def test_kitchen_noise_starts_no_utterance(settings: HearingSettings) -> None:
    kitchen = recording(RECORDINGS / "noise" / "kitchen.flac")[: 20 * 16_000]
    result = run(HearingPipeline(settings), np.zeros(len(kitchen)), noise=kitchen, noise_db=-50)
    assert result.of(SpeechStarted) == []
    assert {v.kind for _, v in result.of(Verdict)} <= {"noise"}


@pytest.mark.parametrize(("guarded", "periods"), [(False, 1), (True, 2)])
def test_a_guarded_gate_waits_longer_for_the_network_to_hear_a_voice(
    settings: HearingSettings, guarded: bool, periods: int
) -> None:
    hearing = HearingPipeline(settings)
    rng = np.random.default_rng(3)
    hiss = rng.normal(0, 1000, 5 * 16_000)
    hiss[: 2 * 16_000] = rng.normal(0, 5, 2 * 16_000)
    verdicts = []
    for at in range(0, len(hiss), 80):
        if not guarded:
            hearing._front_end.gate._guarded_blocks = 0
        block = hiss[at : at + 80].astype(np.int16)
        verdicts += [e for e in hearing.process(block, NOTHING, at) if isinstance(e, Verdict)]
    confirm_ms = settings.onset.confirm_ms
    assert verdicts[0].age_ms == pytest.approx(periods * confirm_ms, abs=10)


@pytest.mark.parametrize(("breath_after_s", "guarded"), [(0.0, False), (1.0, True)])
def test_a_breath_at_the_end_of_speech_does_not_guard_the_gate(
    settings: HearingSettings, breath_after_s: float, guarded: bool
) -> None:
    question = at_level(say("what about the sea"), -26)
    breath = np.random.default_rng(4).normal(0, 0.003, 16_000)
    hearing = HearingPipeline(settings)
    hearing._front_end.gate._guarded_blocks = 0
    until_s = 0.4 + breath_after_s  # the turn ends half a second after its last sound
    still = np.random.default_rng(5).normal(0, 0.0003, round(until_s * 16_000))
    mic = from_float(np.concatenate([still[:16_000], question, still, breath]))
    for at in range(0, len(mic) - 79, 80):
        hearing.process(mic[at : at + 80], NOTHING, at)
    assert hearing._front_end.gate.guarded == guarded


@pytest.mark.long
def test_a_murmur_in_the_first_seconds_of_an_unknown_room_is_detected(
    settings: HearingSettings,
) -> None:
    """The residual of the box's voice sounds like speech, but must not count as a television."""
    played = espeak_talk(6, 1)
    mic = double_talk(played)  # murmurs as loud as the echo, at 1 s, 3 s and 5 s
    hearing = HearingPipeline(settings)
    hearing.answering = True
    onsets_s = [
        event.index / 16_000
        for at in range(0, len(mic) - 79, 80)
        for event in hearing.process(mic[at : at + 80], played[at : at + 80], at)
        if isinstance(event, Onset)
    ]
    # In the first second the expected echo is high, because the canceller has not converged.
    assert onsets_s == pytest.approx([1.0, 3.0, 5.0], abs=0.1)
