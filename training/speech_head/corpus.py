"""The corpus: the teacher's speech, and the pocket model's hidden states for the same text.

In: texts, the model's file, a folder. Out, in the folder: `rows-N.json`, `arrays-N.npz`. A row is
an utterance of one or more sentences. Arrays: `states` [tokens, 7, width]; `symbols`, `seconds`
[tokens, SLOTS]: the phones of a token in order, padded with 0; for spoken rows (the others only
train phones and durations) `parameters` [hops, 82], and `sound` [samples] for rows that are not
made training sentences.
"""

import json
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from training.pocket import grammar
from training.speech_head import analysis, bands, texts
from training.speech_head.states import Model
from training.speech_head.teacher import Said, Teacher

SLOTS = 20
CONTEXTS = 3  # conversations in which a trained answer is recited


def utterances(t: texts.Texts, spoken: int, r: Random) -> list[tuple[str, str, list[str], bool]]:
    """(kind, name of the answer or "", sentences, spoken?)."""
    out = [("held_out", k, texts.sentences(v), True) for k, v in t.held_out.items()]
    out += [("made_held_out", "", [s], True) for s in t.made_held_out if texts.opens(s)]
    out += [("spelled_held_out", "", [s], True) for s in t.spelled_held_out if texts.opens(s)]
    for k, v in t.trained.items():
        out += [("trained", k, texts.sentences(v), i == 0) for i in range(CONTEXTS)]
    first = [s for s in t.made if texts.opens(s)]
    later, said = [s for s in t.made if not texts.opens(s)], 0
    while first:
        group = [first.pop(), *(later.pop() for _ in range(r.choice([0, 0, 1, 2])) if later)]
        out.append(("made", "", group, said < spoken))
        said += len(group)
    apart = [s for s in t.spelled if texts.opens(s)]
    return out + [("made", "", [s], i % 2 == 0) for i, s in enumerate(apart)]


def build(t: texts.Texts, spoken: int, file: Path, folder: Path, part: int, parts: int) -> None:
    model, teacher = Model(file), Teacher(part)
    symbols = ["", *sorted({"_", *teacher.hibari.vocab})]
    number = {s: i for i, s in enumerate(symbols)}
    requests = grammar.requests()
    everything = [text for phrasings in requests.values() for text in phrasings]
    rows: list[dict[str, Any]] = []
    arrays: dict[str, list[Any]] = {
        k: [] for k in ("states", "symbols", "seconds", "parameters", "sound")
    }
    places = dict.fromkeys(("token", "hop", "sample"), 0)
    for i, (kind, name, group, spoken_too) in enumerate(utterances(t, spoken, Random(2))):
        if i % parts != part:
            continue
        r = Random(i)
        model.ask(r.choice(requests.get(name, everything)), r.random() < 0.7)
        pieces, states = model.recite(" ".join(group))
        said = [teacher.say(s, spoken_too) for s in group]
        whole = [s for s in said if s]
        if len(whole) < len(group):
            continue
        phones = laid(pieces, whole)
        if phones is None:
            continue
        if max(map(len, phones)) > SLOTS:
            continue
        table = np.zeros((2, len(phones), SLOTS), np.float32)
        for k, line in enumerate(phones):
            table[0, k, : len(line)] = [number[c] for c, _ in line]
            table[1, k, : len(line)] = [s for _, s in line]
        found = sound_of(whole) if spoken_too else (np.zeros((0, bands.PARAMETERS)), np.zeros(0))
        sound = found[1][:0] if kind == "made" else found[1]
        row = {"kind": kind, "name": name, "text": " ".join(group), "tokens": len(pieces)}
        rows.append({**row, **places, "hops": len(found[0]), "samples": len(sound)})
        for place, n in zip(places, (len(pieces), len(found[0]), len(sound)), strict=True):
            places[place] += n
        arrays["states"].append(states.astype(np.float16))
        arrays["symbols"].append(table[0].astype(np.uint8))
        arrays["seconds"].append(table[1].astype(np.float16))
        arrays["parameters"].append(found[0].astype(np.float16))
        arrays["sound"].append((np.clip(sound, -1, 1) * 32767).astype(np.int16))
    folder.mkdir(parents=True, exist_ok=True)
    joined: dict[str, Any] = {k: np.concatenate(v) for k, v in arrays.items()}
    np.savez(folder / f"arrays-{part}.npz", **joined)
    (folder / f"rows-{part}.json").write_text(json.dumps({"symbols": symbols, "rows": rows}))


def laid(pieces: list[str], said: list[Said]) -> list[list[tuple[str, float]]] | None:
    """The phones of each of the model's tokens, in order.

    All phones of a word in several tokens are at its last token; a token that is only a space has
    none. Returns None if the tokens do not match the teacher's words and marks.
    """
    own = ((p.strip(), phones) for s in said for p, phones in zip(s.pieces, s.phones, strict=True))
    out: list[list[tuple[str, float]]] = []
    word, phones = next(own, ("", []))
    so_far = ""
    for piece in pieces:
        so_far += piece.strip()
        if not word.startswith(so_far):
            return None
        out.append(phones if so_far and so_far == word else [])
        if so_far and so_far == word:
            so_far = ""
            word, phones = next(own, ("", []))
    return out if not word and not so_far else None


def sound_of(said: list[Said]) -> tuple[Any, Any]:
    """Parameters [hops, 82] and samples of the concatenated sentences, a hop for 240 samples."""
    whole, steady, noise = (
        np.concatenate([getattr(s, k) for s in said]) for k in ("samples", "steady", "noise")
    )
    powers = bands.noise_powers(noise)
    found = analysis.parameters(steady[: len(powers) * bands.HOP], powers)
    return found, whole[: len(found) * bands.HOP]


def load(folder: Path) -> tuple[list[str], list[dict[str, Any]], dict[str, Any]]:
    """Symbols, rows and arrays of all parts; the rows' indices are into the joined arrays."""
    rows: list[dict[str, Any]] = []
    parts: list[Any] = []
    symbols: list[str] = []
    before = dict.fromkeys(("token", "hop", "sample"), 0)
    for file in sorted(folder.glob("rows-*.json")):
        found = json.loads(file.read_text())
        symbols = found["symbols"]
        rows += [{**r, **{k: r[k] + n for k, n in before.items()}} for r in found["rows"]]
        parts.append(np.load(folder / file.name.replace("rows", "arrays").replace("json", "npz")))
        for place, name in (("token", "states"), ("hop", "parameters"), ("sample", "sound")):
            before[place] += len(parts[-1][name])
    return symbols, rows, {k: np.concatenate([p[k] for p in parts]) for k in parts[0].files}


if __name__ == "__main__":
    where, weights, made, aloud, shard, shards = sys.argv[1:]
    made_texts = texts.build(int(made))
    build(made_texts, int(aloud), Path(weights), Path(where), int(shard), int(shards))
