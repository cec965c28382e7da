"""The texts: the pocket model's answers, some held out, and sentences that it never generates.

In: the pocket model's tables and a seed. Out: `Texts`. A held-out answer is not used in training;
its words are, in other sentences. Made sentences follow word pairs of the table's sentences, with
random jumps; every word of the table is in many of them.
"""

import itertools
import re
from dataclasses import dataclass
from random import Random
from string import ascii_uppercase

from training.pocket import grammar
from training.pocket.conversation import vocabulary

HELD_OUT = tuple(
    """
    river sun cheese clouds spider italy egg how_are_you where sad riddle_answer not_understood
    book sky wait
    """.split()
)
WORD = re.compile(r"[A-Za-z']+")
END = re.compile(r"(?<=[.?!]) +")
JUMP = 0.35  # share of a made sentence's words from the whole vocabulary, rarest first
SHORTEST, LONGEST = 3, 12  # words


@dataclass(frozen=True)
class Texts:
    """All texts.

    trained, held_out          answers by name
    made, made_held_out        made sentences, without duplicates
    spelled, spelled_held_out  made sentences with letters or numbers in them
    """

    trained: dict[str, str]
    held_out: dict[str, str]
    made: list[str]
    made_held_out: list[str]
    spelled: list[str]
    spelled_held_out: list[str]


def sentences(text: str) -> list[str]:
    return [s for s in END.split(text.strip()) if s]


def build(count: int, held_out: int = 90, seed: int = 1, letters: int = 0) -> Texts:
    """`count` made sentences, and `held_out` more that are held out; `letters` with letters or
    numbers in them, and a tenth of that number held out."""
    answers = {k: v for k, v in grammar.answers().items() if not v.startswith(grammar.CALL)}
    held = {k: answers[k] for k in HELD_OUT}
    trained = {k: v for k, v in answers.items() if k not in held}
    made = Maker(answers, trained, Random(seed)).draw(count + held_out)
    few = -(-letters // 10)
    other = Maker(answers, trained, Random(seed + 1)).draw(letters + few)
    spelled = [with_letters(s, Random(i)) for i, s in enumerate(other)]
    return Texts(trained, held, made[held_out:], made[:held_out], spelled[few:], spelled[:few])


def with_letters(sentence: str, r: Random) -> str:
    """`sentence` with one to five letters or a number of one or two digits inserted at random."""
    words = sentence.split(" ")
    at = r.randint(1, len(words) - 1)
    letters = " ".join(r.choice(ascii_uppercase.replace("A", "")) for _ in range(r.randint(1, 5)))
    number = str(r.choice([r.randint(0, 9), r.randint(10, 99)]))
    return " ".join([*words[:at], r.choice([letters, number, number]), *words[at:]])


class Maker:
    """Makes sentences of the vocabulary, with word pairs of the trained answers."""

    def __init__(self, answers: dict[str, str], trained: dict[str, str], r: Random) -> None:
        self.r = r
        self.follow: dict[str, list[str]] = {}
        for answer in trained.values():
            for sentence in sentences(answer):
                words = WORD.findall(sentence)
                for a, b in itertools.pairwise(words):
                    self.follow.setdefault(a.lower(), []).append(b)
        spoken = [w for v in answers.values() for s in sentences(v) for w in inner(s)]
        self.inside = sorted(set(spoken))
        starts = {s.split()[0].strip(",.?!") for v in answers.values() for s in sentences(v)}
        self.starts = sorted(w for w in starts if WORD.fullmatch(w))
        self.openers = [w for w in self.starts if opens(w)]
        self.times = dict.fromkeys(self.inside, 0)

    def draw(self, count: int) -> list[str]:
        seen: set[str] = set()
        out: list[str] = []
        while len(out) < count:
            sentence = self.sentence()
            if sentence not in seen:
                seen.add(sentence)
                out.append(sentence)
        return out

    def sentence(self) -> str:
        r = self.r
        words = [r.choice(self.openers if r.random() < 0.5 else self.starts)]
        for _ in range(r.randint(SHORTEST, LONGEST) - 1):
            after = self.follow.get(words[-1].strip(",").lower())
            if after and r.random() > JUMP:
                words.append(r.choice(after))
            else:
                words.append(min(r.sample(self.inside, 6), key=lambda w: self.times[w]))
            if words[-1] in self.times:
                self.times[words[-1]] += 1
            if r.random() < 0.08:
                words[-1] += ","
        return " ".join(words).rstrip(",") + r.choice("....?!")


def opens(sentence: str) -> bool:
    """Whether its first word, without a space before it, is one token."""
    found = WORD.match(sentence)
    return found is not None and found[0] in vocabulary().ids


def inner(sentence: str) -> list[str]:
    """The words of a sentence; the first only if its spelling is the same inside a sentence."""
    words = WORD.findall(sentence)
    return [w for i, w in enumerate(words) if i or w[0].islower() or w in {"I", "I'm", "I'll"}]
