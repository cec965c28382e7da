"""Measures the shipped head and codec, through the appliance's own classes.

In: the corpus's folder, the model's file, the folder of the head, which texts, how many, and, to
use Whisper instead of pocketsphinx, the folder of its model. Out: lines, and NAME.json in the
corpus's folder: the words that the recogniser gets wrong for the teacher, the codec's copy of it
and the head; real-time factor; milliseconds to the first frame. The model generates an answer
token by token; a made sentence is recited in its place.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from appliance.voice.head.codec import Codec as Player
from appliance.voice.head.speech_head import SpeechHead
from training.pocket import grammar
from training.speech_head import corpus, learn_codec
from training.speech_head.recogniser import Recogniser, errors, words
from training.speech_head.states import Model

Sound = NDArray[np.float32]


class Speaker:
    """The head with time measurements.

    computing, speech  seconds of CPU time and of speech
    first              ms of CPU time from the start of a stream to its first frame
    lead               tokens that the head was ahead of each first frame's token
    """

    def __init__(self, model: Path, folder: Path) -> None:
        self.model, self.head = Model(model), SpeechHead(folder)
        self.computing = self.speech = 0.0
        self.first: list[float] = []
        self.lead: list[int] = []

    def say(self, row: dict[str, Any]) -> tuple[str, Sound]:
        """The text that was spoken, and its sound."""
        requests = grammar.requests()
        request = requests.get(row["name"], [""])[0] or "Blah blah blah blah."
        self.model.ask(request, persona=True)
        if row["name"] and row["name"] in requests:
            tokens = list(self.model.answer())
        else:
            pieces, states = self.model.recite(row["text"])
            tokens = list(zip(pieces, states, strict=True))
        stream, parts = self.head.begin(), list[Any]()
        begin = time.process_time()
        for i, (_, state) in enumerate(tokens):
            stream.push(state[None, 1:], state[None, 0])
            while frame := stream.frame():
                if not parts:
                    self.first.append((time.process_time() - begin) * 1000)
                    self.lead.append(i - frame.token)
                parts.append(frame.samples)
        stream.end()
        parts += [f.samples for f in stream.frames()]
        self.computing += time.process_time() - begin
        whole = np.concatenate([*parts, np.zeros(0, np.int16)])
        sound = (whole / 32768).astype(np.float32)
        self.speech += len(sound) / self.head.rate_hz
        return "".join(p for p, _ in tokens).strip(), sound


def by_whisper(folder: Path) -> Any:
    """Whisper with the interface of `Recogniser`; its package is only needed if it is used."""
    from training.speech_head.whisper import Whisper

    return Whisper(folder)


def evaluate(
    folder: Path, model: Path, head: Path, kind: str, most: int, whisper: Path | None = None
) -> dict[str, Any]:
    _, rows, arrays = corpus.load(folder)
    seen = {r["text"]: r for r in rows if r["kind"] == kind and r["hops"]}
    chosen = list(seen.values())[:most]
    encoder, player = learn_codec.load(folder), Player(head / "codec.json")
    listener = Recogniser() if whisper is None else by_whisper(whisper)
    speaker = Speaker(model, head)
    wrong, total = dict.fromkeys(("teacher", "copy", "head"), 0), 0
    heard: list[dict[str, Any]] = []
    for r in chosen:
        cut = slice(r["hop"], r["hop"] + r["hops"])
        heard_of_it = arrays["sound"][r["sample"] : r["sample"] + r["samples"]]
        sound = heard_of_it.astype(np.float32) / 32768
        p = torch.from_numpy(arrays["parameters"][cut].astype(np.float32))
        codes = encoder.quantise(encoder.encode(p)).numpy()
        copy, _state = player.decode(codes, player.start())
        said, spoken = speaker.say(r)
        meant = words(r["text"])
        total += len(meant)
        row: dict[str, Any] = {"text": r["text"], "as in the table": said == r["text"]}
        for name, y in {"teacher": sound, "copy": copy, "head": spoken}.items():
            found = listener.hear(y)
            wrong[name] += errors(meant, found)
            row[name] = " ".join(found)
        row["length"] = len(spoken) / len(sound)
        heard.append(row)
    result = {
        "kind": kind, "texts": len(chosen), "words": total,
        "answers drawn as in the table": sum(r["as in the table"] for r in heard),
        "words wrong, per cent": {k: round(100 * v / total, 1) for k, v in wrong.items()},
        "length against the teacher": round(float(np.mean([r["length"] for r in heard])), 3),
        "real-time factor, CPU": round(speaker.computing / speaker.speech, 3),
        "first frame, CPU ms": [round(float(np.percentile(speaker.first, q)), 1) for q in (50, 95)],
        "tokens waited for, median and most": [int(np.median(speaker.lead)), max(speaker.lead)],
    }  # fmt: skip
    judge = "" if whisper is None else "-whisper"
    (folder / f"{kind}{judge}.json").write_text(json.dumps({**result, "heard": heard}, indent=1))
    print(json.dumps(result, indent=1), flush=True)
    return result


if __name__ == "__main__":
    torch.set_num_threads(1)
    where, weights, shipped, texts, count, *second = sys.argv[1:]
    by = Path(second[0]) if second else None
    evaluate(Path(where), Path(weights), Path(shipped), texts, int(count), by)
