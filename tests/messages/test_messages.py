"""Every kind of message at its largest: it fits into a datagram, and no process dies of it."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast, get_args

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import inspect

from appliance.cli import tell
from appliance.dialog.answer import Question
from appliance.dialog.memory import Memory, RememberedTurn
from appliance.errors import BadMessage
from appliance.messages import commands
from appliance.messages.commands import Ask, ModeName, SetMode, SetVoice, SetVolume, StopSpeaking
from appliance.messages.limits import MAX_ANSWER, MAX_BYTES, MAX_COUNT, MAX_WORDS, cut
from appliance.messages.playback import PlaybackFinished, PlaybackStarted
from appliance.messages.registry import Mail, Message, ObservedMessage, decode, encode
from appliance.messages.speech import Speak, Spoken
from appliance.messages.thinking import (
    AnswerHeard,
    Recall,
    RecallWanted,
    Sentence,
    Think,
    ThoughtEnded,
)
from appliance.runtime import memory_files
from appliance.runtime.ipc import channel
from appliance.runtime.ipc.channel import SURELY_SHORT_BYTES, Channel
from appliance.runtime.supervision.child import Child
from tests.dialog.talk import talk_in
from tests.dialog.test_conductor import Box, settings_in

KINDS: tuple[type[msgspec.Struct], ...] = get_args(Message)
WIDE = "\U0001f9e1"  # four bytes of UTF-8
WHOLE_NUMBERS = (0, 1, -1, 2**31, 2**63 - 1, -(2**63), 2**64 - 1)


# ── what the types say ───────────────────────────────────────────────────────────────────────
def most_bytes(kind: inspect.Type) -> int:  # noqa: PLR0911 - a row a kind
    """How long msgpack of it can be. Raises ValueError for what has no limit."""
    match kind:
        case inspect.IntType() | inspect.FloatType():
            return 9
        case inspect.BoolType() | inspect.NoneType():
            return 1
        case inspect.LiteralType():
            return max(len(encode_any(value)) for value in kind.values)
        case inspect.StrType(max_length=int(most)):
            return 5 + 4 * most
        case inspect.VarTupleType(max_length=int(most)):
            return 5 + most * most_bytes(kind.item_type)
        case inspect.TupleType():
            return 5 + sum(map(most_bytes, kind.item_types))
        case inspect.DictType(max_length=int(most)):
            return 5 + most * (most_bytes(kind.key_type) + most_bytes(kind.value_type))
        case inspect.UnionType():
            return max(map(most_bytes, kind.types))
        case inspect.StructType():
            fields = sum(len(f.encode_name) + 5 + most_bytes(f.type) for f in kind.fields)
            return 5 + len("type") + 5 + len(kind.cls.__name__) + 5 + fields
    raise ValueError(f"{kind} has no limit")


def encode_any(value: object) -> bytes:
    return msgspec.msgpack.encode(value)


@pytest.mark.parametrize("kind", [k for k in KINDS if k is not Recall], ids=lambda k: k.__name__)
def test_no_message_can_be_larger_than_a_datagram(kind: type[msgspec.Struct]) -> None:
    copy = sum(len(f.encode_name) + 5 + most_bytes(f.type) for f in _fields(ObservedMessage)[:3])
    assert most_bytes(inspect.type_info(kind)) + copy + 100 <= MAX_BYTES  # 100: names, heads


def test_a_field_without_a_limit_would_be_found() -> None:
    class Endless(msgspec.Struct):
        text: str

    with pytest.raises(ValueError, match="no limit"):
        most_bytes(inspect.type_info(Endless))


# ── every kind at its largest ────────────────────────────────────────────────────────────────
def largest(kind: inspect.Type, letter: str = WIDE, number: int = 2**63 - 1) -> Any:  # noqa: PLR0911
    """A value of it that cannot be longer."""
    match kind:
        case inspect.IntType():
            return number if kind.ge is None else min(MAX_COUNT - 1, max(0, number))
        case inspect.FloatType():
            return 1.0 if kind.le is not None else 1.7e308
        case inspect.BoolType():
            return True
        case inspect.NoneType():
            return None
        case inspect.LiteralType():
            return max(kind.values, key=lambda value: len(str(value)))
        case inspect.StrType():
            return letter * (kind.max_length or 0)
        case inspect.VarTupleType():
            return (largest(kind.item_type, letter, number),) * (kind.max_length or 1)
        case inspect.TupleType():
            return tuple(largest(item, letter, number) for item in kind.item_types)
        case inspect.DictType():
            value = largest(kind.value_type, letter, number)
            key = largest(kind.key_type, letter, number)
            return {key[:-1] + chr(65 + n): value for n in range(kind.max_length or 0)}
        case inspect.UnionType():
            return largest(kind.types[0], letter, number)
        case inspect.StructType():
            fields = {f.name: largest(f.type, letter, number) for f in kind.fields}
            return kind.cls(**fields)
    raise AssertionError(kind)


def build(kind: type[msgspec.Struct], letter: str = WIDE, number: int = 2**63 - 1) -> Any:
    if kind is Recall:
        return Recall.newest([(letter * MAX_WORDS,) * 2 + (letter * MAX_ANSWER,)] * 200)
    return largest(inspect.type_info(kind), letter, number)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_kind_at_its_largest_arrives_whole_and_so_does_its_copy(kind: type[Any]) -> None:
    near, far = (Channel(end) for end in channel.pair())
    message = build(kind)
    copy = ObservedMessage(2**63 - 1, WIDE * 100, WIDE * 100, message)
    mail: tuple[Mail, ...] = (message, copy)
    for sent in mail:
        assert near.send(sent)
        assert far.receive() == sent
    assert not near._told


def test_no_text_within_the_unchecked_size_is_longer_than_its_limit() -> None:
    texts = [f.type for k in KINDS for f in _fields(k) if isinstance(f.type, inspect.StrType)]
    assert min(text.max_length or 0 for text in texts) >= SURELY_SHORT_BYTES


def _fields(kind: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    return info.fields


# ── what is longer ───────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    "message",
    [
        AnswerHeard(1, "x" * 2_000_000, complete=True),
        Sentence(1, 0, "half a pair: \ud800" + "y" * 5000),
        SetVoice("\udcff"),
        Think(1, tuple(range(100_000)), "z" * 5000),
        ObservedMessage(1, "a" * 5000, "b", Speak(1, 0, "c" * 70_000)),
    ],
    ids=lambda message: type(message).__name__,
)  # fmt: skip
def test_what_is_too_long_is_cut_to_fit_and_the_log_says_so_once(
    message: Mail, caplog: pytest.LogCaptureFixture
) -> None:
    near, far = (Channel(end) for end in channel.pair())
    with caplog.at_level(logging.WARNING):
        assert near.send(message)
        assert near.send(message)
    assert far.receive() == far.receive() == cut(message)
    assert len(caplog.records) == 1
    assert "xxx" not in caplog.text


@pytest.mark.parametrize(
    "message",
    [Think(2**70), Think(-1), SetVolume(math.nan), Ask(cast("str", b"\x00")),
     SetMode(cast("ModeName", "x" * 200))],
    ids=lambda message: type(message).__name__,
)  # fmt: skip
def test_what_can_be_cut_to_nothing_sound_is_never_sent_and_never_raises(message: Mail) -> None:
    near, far = (Channel(end) for end in channel.pair())
    sent = near.send(message)
    if sent:
        with pytest.raises(BadMessage):
            far.receive()
    else:
        assert far.receive() is None
        assert near._told == {type(message).__name__}


def test_a_volume_that_is_no_share_is_no_message() -> None:
    for volume in (-0.1, 1.1, math.nan, math.inf):
        with pytest.raises(BadMessage):
            decode(encode(SetVolume(volume)))
    assert decode(encode(SetVolume(1.0))) == SetVolume(1.0)


TURNS = st.tuples(st.text(max_size=3000), st.text(max_size=3000), st.text(max_size=20_000))


@given(turns=st.lists(TURNS, max_size=30))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=50)
def test_the_newest_turns_are_recalled_as_far_as_they_fit(
    turns: list[tuple[str, str, str]],
) -> None:
    recall = Recall.newest(turns)
    assert len(encode(recall)) <= MAX_BYTES
    kept = [(asked[-MAX_WORDS:], said[-MAX_WORDS:], heard[:MAX_ANSWER])
            for asked, said, heard in turns]  # fmt: skip
    assert list(recall.turns) == kept[len(kept) - len(recall.turns) :]
    assert bool(recall.turns) == bool(turns)


def test_what_fits_is_recalled_whole() -> None:
    turns = [("", "what is the moon", "The moon is grey.")] * 200
    assert Recall.newest(turns).turns == tuple(turns)


# ── an answer without end ────────────────────────────────────────────────────────────────────
def test_an_answer_that_is_too_long_ends_where_it_is_full_and_counts_as_cut() -> None:
    talk = talk_in("thinking")
    turn = talk.turn
    for number in range(100):
        talk(Sentence(turn, number, "x" * 300))
        talk(Spoken(turn, number, 16_000 * number, 16_000, 5.0))
    talk(ThoughtEnded(turn, 100, "complete"), PlaybackStarted(turn, 0), after_s=0.2)
    talk(PlaybackFinished(turn, 1_600_000, 0), after_s=100.0)
    (heard,) = talk.sent(AnswerHeard)
    assert MAX_ANSWER - 301 < len(heard.text) <= MAX_ANSWER
    assert not heard.complete
    assert sum(map(len, talk.it.last_lines)) <= MAX_ANSWER  # what "say that again" says


def test_questions_that_are_never_answered_grow_no_longer_than_one() -> None:
    kept = Question("")
    for number in range(50):
        kept = Question(f"{number} " + "why? " * 190).after(kept)
    assert len(kept.text) == MAX_WORDS


# ── the conductor ────────────────────────────────────────────────────────────────────────────
@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    box = Box(settings_in(tmp_path))
    box.load_model()
    yield box
    box.supervisor.stop_all()
    box.supervisor.close()


# Restart is the supervisor's to act on: the box would begin anew, as it should.
TAKEN = [kind for kind in KINDS if kind is not commands.Restart]


PEERS = ("room", "listener", "thinker", "playback", "speaker", "capture")


def drain(box: Box) -> None:
    """Take all that has been sent to the parts and those who watch."""
    for mail in box._channels.values():
        for _ in mail.receive_all():
            pass


def child_of(box: Box) -> Child:
    child = box.supervisor.parts["conductor"].child
    assert child is not None
    return child


def passes(box: Box, message: Message) -> None:
    """Every part says it."""
    for peer in PEERS:
        mail = box._channels[peer]
        while not mail.send(message):
            assert not mail._told
            assert child_of(box).poll() is None
            drain(box)
            box.supervisor.run_once(0.001)


@pytest.mark.process
def test_the_conductor_outlives_every_kind_at_its_largest(box: Box) -> None:
    conductor = child_of(box)
    for number in WHOLE_NUMBERS:
        for letter in ("x", WIDE):
            for kind in TAKEN:
                passes(box, build(kind, letter, number))
                box.supervisor.run_once(0.0)
                assert conductor.poll() is None, (kind.__name__, letter, number)
                drain(box)
    tell.send_command(box.settings, StopSpeaking())
    assert child_of(box) is conductor
    assert conductor.poll() is None


@pytest.mark.process
def test_a_conductor_with_two_hundred_long_turns_recalls_what_fits(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, recall_turns=200)
    kept = Memory(memory_files.path(settings), 1000)
    for number in range(200):
        asked, heard = f"{number} " + "why? " * 20_000, WIDE * 357
        kept.remember(
            RememberedTurn("2026-01-01T00:00:00+00:00", number, asked, 1.0, heard, True, "m")
        )
    kept.close()
    box = Box(settings)
    try:
        box.say("thinker", RecallWanted())
        turns = box.get("thinker", Recall).turns
        assert 10 < len(turns) < 200
        assert turns[-1][2] == WIDE * 357
        assert all(len(asked) == MAX_WORDS for asked, _, _ in turns)
    finally:
        box.supervisor.stop_all()
        box.supervisor.close()


@pytest.mark.process
def test_a_typed_question_of_the_longest_kind_is_asked_and_kept(box: Box) -> None:
    question = WIDE * MAX_WORDS
    tell.send_command(box.settings, Ask(question))
    assert box.get("thinker", Think).text == question
    box.answer("Yes.")
    box.say("playback", PlaybackFinished(box.floor.turn, 16_000, 0))
    box.state("idle")
    box.say("thinker", RecallWanted())
    assert box.get("thinker", Recall).turns == ((question, "", "Yes."),)
