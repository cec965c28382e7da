"""A stream of speech from hidden states: independent of batch size; in order; cancelled by
being dropped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from appliance.errors import ModelError
from appliance.voice.head.head_stream import HeadFrame, HeadStream
from appliance.voice.head.speech_head import SpeechHead
from tests.voice.head.spoken import SHIPPED, Recited, recite

Floats = npt.NDArray[np.float32]


@pytest.fixture(scope="module")
def head() -> SpeechHead:
    return SpeechHead(SHIPPED)


@pytest.fixture(scope="module")
def sentence() -> Recited:
    return recite("The moon is cold. It has no wind, and no sound.")


def push(stream: HeadStream, states: Floats) -> None:
    stream.push(states[:, 1:], states[:, 0])


def all_frames(head: SpeechHead, states: Floats) -> list[HeadFrame]:
    stream = head.begin()
    push(stream, states)
    stream.end()
    found = stream.frames()
    assert stream.over
    return found


@pytest.mark.parametrize("at_once", [1, 2, 5])
@pytest.mark.long
def test_the_frames_do_not_depend_on_the_number_of_tokens_per_push(
    head: SpeechHead, sentence: Recited, at_once: int
) -> None:
    stream, found = head.begin(), list[HeadFrame]()
    for at in range(0, len(sentence.states), at_once):
        push(stream, sentence.states[at : at + at_once])
        found += stream.frames()
    over = [stream.over]
    stream.end()
    found += stream.frames()
    assert [*over, stream.over] == [False, True]
    expected = all_frames(head, sentence.states)
    assert len(found) == len(expected) > 20
    for frame, wanted in zip(found, expected, strict=True):
        assert np.array_equal(frame.codes, wanted.codes)
        assert np.array_equal(frame.samples, wanted.samples)
        assert frame.token == wanted.token


def test_a_frame_waits_for_no_more_tokens_than_the_manifests_lead(
    head: SpeechHead, sentence: Recited
) -> None:
    stream, waits = head.begin(), list[int]()
    for i in range(len(sentence.states)):
        push(stream, sentence.states[i : i + 1])
        waits += [i - frame.token for frame in stream.frames()]
    assert max(waits[:1]) <= head.lead_tokens
    assert min(waits) >= 1  # a token's phones need the token after it


def test_the_frames_of_the_words_are_in_order(head: SpeechHead, sentence: Recited) -> None:
    tokens = [frame.token for frame in all_frames(head, sentence.states)]
    assert tokens == sorted(tokens)
    spoken = {i for i, piece in enumerate(sentence.pieces) if piece.strip().isalpha()}
    assert len(spoken - set(tokens)) <= 2  # a word shorter than a frame may have no frame
    assert all(
        frame.samples.shape == (head.frame_samples,) for frame in all_frames(head, sentence.states)
    )


def test_a_dropped_stream_does_not_affect_the_next(head: SpeechHead, sentence: Recited) -> None:
    expected = all_frames(head, sentence.states)
    dropped = head.begin()
    push(dropped, sentence.states)
    for _ in range(5):
        assert dropped.frame()
    del dropped
    again = all_frames(head, sentence.states)
    assert all(np.array_equal(a.codes, b.codes) for a, b in zip(again, expected, strict=True))


def test_without_tokens_there_are_no_frames(head: SpeechHead) -> None:
    stream = head.begin()
    assert stream.frame() is None
    assert not stream.over
    stream.end()
    assert stream.frame() is None
    assert stream.over


def test_states_of_another_model_are_refused(head: SpeechHead) -> None:
    stream = head.begin()
    with pytest.raises(ModelError, match="6 layers of 128"):
        stream.push(np.zeros((1, 6, 64), np.float32), np.zeros((1, 64), np.float32))
    stream.push(np.zeros((1, 6, 128), np.float32), np.zeros((1, 128), np.float32))


def test_a_file_that_does_not_match_the_manifest_is_refused(tmp_path: Path) -> None:
    for file in SHIPPED.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    SpeechHead(tmp_path)
    with (tmp_path / "phones.onnx").open("ab") as damaged:
        damaged.write(b"\0")
    with pytest.raises(ModelError, match=r"phones\.onnx"):
        SpeechHead(tmp_path)
    (tmp_path / "phones.onnx").unlink()
    with pytest.raises(ModelError, match="missing"):
        SpeechHead(tmp_path)
    (tmp_path / "head.json").write_text("{}")
    with pytest.raises(ModelError, match="no speech head"):
        SpeechHead(tmp_path)
