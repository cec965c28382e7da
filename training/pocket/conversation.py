"""Random conversations for training, in the product's prompt format.

In: the corpus, the tables, a generator. Out: token ids with places for soft tokens, the clips
for these, and the weight of each position in the loss.
    <bos><|turn>system\n…<turn|>\n<|turn>user\n<|audio>…<audio|><turn|>\n<|turn>model\n…<turn|>\n
An answer in the middle may be cut at any word, as if the owner had interrupted it.
"""

from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any

import numpy as np
import torch

from training.pocket import grammar
from training.pocket.audio_encoder import token_count
from training.pocket.batches import round_up
from training.pocket.rooms import Surroundings
from training.pocket.sound import Array
from training.pocket.speech import Corpus
from training.pocket.text_decoder import PAD_ID
from training.pocket.vocabulary import (
    AUDIO_END,
    AUDIO_START,
    BOS,
    CALL_START,
    NORMAL,
    Vocabulary,
    words_of,
)

PERSONA = "You are Interlude, a voice in a small box. Answer in short spoken sentences."
VOCABULARY_SIZE = 2560
LONG_WORDS = 60  # answers above this are nearly always cut in stages 3 and 4
FIRST_WORDS_WEIGHT = 3.0  # the first two tokens decide which answer it is; of a call, its words
CALL_ALONE, CALL_ANSWERED = 0.4, 0.45  # shares: see Conversations.call
UNKNOWN_REDRAWN = 0.75  # otherwise the model gives that answer to any noisy clip
TYPED = "?", "", ".", "!"
# What tools answer, as input in a history; never a training target.
REPLIES = (
    "It is ten past nine.",
    "It is seventeen minutes to four.",
    "It is half past twelve.",
    "It is Saturday, the twenty-first of November.",
    "It is Monday, the third of May.",
    "Five minutes, from now.",
    "One timer. Four minutes are left.",
    "There is no timer.",
    "The timer is off.",
    "Louder.",
    "Quieter.",
    "I have forgotten that.",
    "The light is on.",
    "The kitchen light is off.",
    "I cannot reach the house just now.",
)


@cache
def vocabulary() -> Vocabulary:
    """A vocabulary with each word of answers, requests and persona as one token, at the start of
    a sentence and inside it."""
    said = [p for phrasings in grammar.requests().values() for p in phrasings]
    wrappers = [*grammar.BEFORE, *grammar.ASKING, *grammar.AFTER]
    marks = ["user model system", "user", "model", "system", "response", "value", *REPLIES]
    asked = [f(t) for t in said + wrappers for f in (str, str.capitalize, lambda t: " " + t)]
    return Vocabulary([*grammar.answers().values(), *asked, PERSONA, *marks], VOCABULARY_SIZE)


@dataclass
class Sequence:
    """ids has PAD_ID in place of each soft token of clips; weights is 0 outside of answers."""

    ids: list[int] = field(default_factory=list)
    soft: list[bool] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    clips: list[Array] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def text(self, ids: list[int], weights: list[float] | None = None) -> None:
        self.ids += ids
        self.soft += [False] * len(ids)
        self.weights += weights or [0.0] * len(ids)

    def audio(self, clip: Array, said: str = "") -> None:
        """`said` is the text of a complete clip; it is "" for noise and for parts of clips."""
        tokens = token_count(len(clip))
        self.text([AUDIO_START])
        self.ids += [PAD_ID] * tokens
        self.soft += [True] * tokens
        self.weights += [0.0] * tokens
        self.clips.append(clip)
        self.said.append(said)
        self.text([AUDIO_END])


class Conversations:
    def __init__(
        self,
        words: Vocabulary,
        seed: int,
        corpus: Corpus | None = None,
        surroundings: Surroundings | None = None,
    ) -> None:
        self.r, self.vocabulary = Random(seed), words
        self.corpus, self.surroundings = corpus, surroundings
        self.table = grammar.requests()
        self.answers = {k: words.encode(v) for k, v in grammar.answers().items()}
        self.heads = {
            role: words.encode(f"<|turn>{role}\n") for role in ("system", "user", "model")
        }
        self.end = words.encode("<turn|>\n")
        self.replies = [words.encode(reply) for reply in REPLIES]
        self.loose = sorted({w for t in grammar.answers().values() for w in words_of(t)})

    def draw(self, turns: int, full_share: float, typed_share: float) -> Sequence:
        s = Sequence()
        s.text([BOS])
        if self.r.random() < 0.7:
            s.text(self.heads["system"] + self.vocabulary.encode(self.persona()) + self.end)
        for _ in range(turns):
            s.text(self.heads["user"])
            name = self.ask_in_writing(s) if self.r.random() < typed_share else self.ask_aloud(s)
            s.text(self.end + self.heads["model"])
            self.answer(s, self.answers[name], full_share)
        return s

    def persona(self) -> str:
        if self.r.random() < 0.5:
            return PERSONA
        return self.babble(self.r.randint(3, 25))

    def babble(self, count: int) -> str:
        """`count` words in random order."""
        words = "".join(self.r.choice(self.loose) for _ in range(count))
        return words.replace("\u2581", " ").strip()

    def answer(self, s: Sequence, ids: list[int], full_share: float) -> None:
        if ids[0] == CALL_START:
            self.call(s, ids)
            return
        weights = [FIRST_WORDS_WEIGHT] * 2 + [1.0] * (len(ids) - 2)
        if self.r.random() < (full_share if len(ids) > LONG_WORDS else 0.85):
            s.text([*ids, *self.end], [*weights, 1.0, 0.0])
        else:
            stop = self.r.randint(2, min(len(ids) - 1, 16 if self.corpus else 60))
            s.text(ids[:stop] + self.end, [*weights[:stop], 0.0, 0.0])

    def call(self, s: Sequence, ids: list[int]) -> None:
        """Add a tool call, in one of three forms.

        Alone: the call, then the end, both trained. As in a history (appliance/tools/README.md):
        the call, the tool's response and the part of the reply that was heard. As after a restart:
        only that part of the reply.
        """
        kind, tokens = self.r.random(), self.vocabulary.tokens
        plain = [self.vocabulary.types[i] == NORMAL and tokens[i][-1].isalnum() for i in ids]
        weights = [FIRST_WORDS_WEIGHT if word else 1.0 for word in plain]
        if kind < CALL_ALONE:
            s.text([*ids, *self.end], [*weights, 1.0, 0.0])
            return
        reply = self.r.choice(self.replies)
        if self.r.random() < 0.5:
            reply = self.vocabulary.encode(self.babble(self.r.randint(1, 12)))
        heard = reply[: self.r.randint(1, len(reply))] if self.r.random() < 0.3 else reply
        if kind < CALL_ALONE + CALL_ANSWERED:
            name = "".join(tokens[i] for i in ids).partition("call:")[2].partition("{")[0]
            s.text(ids, weights)
            s.text(self.vocabulary.encode(f'<|tool_response>response:{name}{{value:<|"|>'))
            s.text([*reply, *self.vocabulary.encode('<|"|>}<tool_response|>')])
        s.text([*heard, *self.end])

    def ask_in_writing(self, s: Sequence) -> str:
        ask = grammar.unknown if self.r.random() < 0.25 else grammar.request
        text, name = ask(self.table, self.r)
        if self.r.random() < 0.5:
            text = text[0].upper() + text[1:]
        s.text(self.vocabulary.encode(text + self.r.choice(TYPED)))
        return name

    def ask_aloud(self, s: Sequence) -> str:
        """Add a clip, or one in two parts, or one with an abandoned request or noise beside it."""
        around, corpus = self.surroundings, self.corpus
        assert around
        assert corpus
        row, kind = self.r.randrange(len(corpus)), self.r.random()
        if corpus.rows[row]["name"] == grammar.UNKNOWN and self.r.random() < UNKNOWN_REDRAWN:
            row = self.r.randrange(len(corpus))
        clip, name = corpus.clip(row), str(corpus.rows[row]["name"])
        if kind < 0.04:
            s.audio(around.nothing())
            return grammar.UNKNOWN
        if kind < 0.12 and len(clip) > 16_000:
            quiet = np.zeros(1600, np.float32)
            cut = int(len(clip) * self.r.uniform(0.25, 0.75))
            s.audio(around.heard(np.concatenate([clip[:cut], quiet])))
            s.audio(around.heard(np.concatenate([quiet, clip[cut:]])))
            return name
        if kind < 0.18:
            before = corpus.clip(self.r.randrange(len(corpus)))
            s.audio(around.heard(before[: int(len(before) * self.r.uniform(0.3, 1))]))
        elif kind < 0.20:
            s.audio(around.nothing())
        s.audio(around.heard(clip), corpus.rows[row]["text"])
        if 0.20 <= kind < 0.22:
            s.audio(around.nothing())
        return name


def collate(
    sequences: list[Sequence],
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, list[Array]]:
    """[sequences, positions]: ids, soft-token mask, targets (next ids), weights; the clips."""
    longest = round_up(max(len(s.ids) for s in sequences), 64)

    def table(rows: list[Any], fill: float, kind: torch.dtype) -> torch.Tensor:
        return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows], dtype=kind)

    ids = table([s.ids for s in sequences], PAD_ID, torch.long)
    soft = table([s.soft for s in sequences], False, torch.bool)
    targets = table([s.ids[1:] for s in sequences], PAD_ID, torch.long)
    weights = table([s.weights[1:] for s in sequences], 0.0, torch.float)
    return ids, soft, targets, weights, [c for s in sequences for c in s.clips]
