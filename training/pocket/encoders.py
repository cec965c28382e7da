"""Compares the streaming audio encoder with llama.cpp's, by the answers to their tokens.

In: the folder of the two GGUF files, and the cache of train.py (held-out voices). Out, printed for
each form of the streaming encoder and each noise level: how many answers are word for word those
with llama.cpp's encoder, how many are right, and the relative difference of the soft tokens.
    python -m training.pocket.encoders WEIGHTS CACHE [--clips 300]
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

from appliance.models.encoder_graph.make import make
from appliance.models.local_model import Sampling
from appliance.models.onnx_graph.graph import Form
from appliance.think.context import Rows
from appliance.think.gemma import Gemma
from appliance.think.streaming_encoder import StreamingEncoder
from training.pocket.accuracy import AccuracyTest
from training.pocket.rooms import kitchen
from training.pocket.sound import SAMPLE_RATE, Array
from training.pocket.speech import phones_path, synthesise_corpus
from training.pocket.through_llama import LONGEST_ANSWER, PERSONA, Pocket

FORMS: tuple[Form, ...] = ("fp32", "int8", "int7")
PIECE = SAMPLE_RATE  # step of the thinker's speculative prefill
BEFORE = f"<bos><|turn>system\n{PERSONA}<turn|>\n<|turn>user\n<|audio>"
BEHIND = "<audio|><turn|>\n<|turn>model\n"
RATIOS_DB = (None, 10, 5)


def answer(gemma: Gemma, rows: Rows) -> str:
    gemma.roll_back(0)
    gemma.evaluate(gemma.tokenize(BEFORE, marks=True))
    gemma.evaluate(rows)
    gemma.evaluate(gemma.tokenize(BEHIND, marks=True), last=True)
    said = b""
    for _ in range(LONGEST_ANSWER):
        token = gemma.sample()
        if gemma.is_end(token):
            break
        said += gemma.piece(token)
        gemma.evaluate([token], last=True)
    return said.decode(errors="replace")


def in_pieces(encoder: StreamingEncoder, clip: Array) -> Rows:
    begun = None
    for end in range(PIECE, len(clip) + PIECE, PIECE):
        begun = encoder.encode(clip[:end], begun, whole=end >= len(clip))
    assert begun is not None
    return begun.rows


def compare(test: AccuracyTest, gemma: Gemma, encoders: dict[Form, StreamingEncoder]) -> None:
    for ratio_db in RATIOS_DB:
        same, right = dict.fromkeys(encoders, 0), dict.fromkeys(["llama.cpp", *encoders], 0)
        apart: dict[Form, list[float]] = {form: [] for form in encoders}
        for i in test.known:
            clip = test.clean(i) if ratio_db is None else test.noisy(i, ratio_db)
            wanted = test.answers[test.corpus.rows[i]["name"]]
            theirs = gemma.encode(clip.astype(np.float32))
            text = answer(gemma, theirs)
            right["llama.cpp"] += text == wanted
            for form, encoder in encoders.items():
                rows = in_pieces(encoder, clip.astype(np.float32))
                mine = answer(gemma, rows)
                same[form] += mine == text
                right[form] += mine == wanted
                kept = min(len(rows), len(theirs))
                error = np.linalg.norm(rows[:kept] - theirs[:kept]) / np.linalg.norm(theirs[:kept])
                apart[form].append(float(error))
        noise = "clean" if ratio_db is None else f"kitchen noise at {ratio_db} dB"
        print(f"{noise}, {len(test.known)} requests, right by llama.cpp: {right['llama.cpp']}")
        for form in encoders:
            print(f"    {form}: word for word the same {same[form]}, right {right[form]}, soft "
                  f"tokens differ by {100 * float(np.median(apart[form])):.2f} % (median), "
                  f"{100 * max(apart[form]):.1f} % (most)", flush=True)  # fmt: skip


def main() -> None:
    a = argparse.ArgumentParser(description="The streaming audio encoder against llama.cpp's.")
    a.add_argument("weights", type=Path)
    a.add_argument("cache", type=Path)
    a.add_argument("--clips", type=int, default=300)
    o = a.parse_args()
    if not phones_path(o.cache, "held_out").exists():
        synthesise_corpus(o.cache, "held_out")
    noise = kitchen(60 * SAMPLE_RATE, np.random.default_rng(5)).astype(np.float32)
    test = AccuracyTest(Pocket(o.weights), o.cache, o.clips, noise)
    text, audio = o.weights / "pocket-text.gguf", o.weights / "pocket-audio.gguf"
    greedy = Sampling(temperature=0.0)
    gemma = Gemma(text, audio, context_tokens=2048, threads=1, sampling=greedy)
    with tempfile.TemporaryDirectory() as folder:
        encoders = {}
        for form in FORMS:
            graph = Path(folder) / f"{form}.onnx"
            make(audio, graph, graph.with_suffix(".data"), form)
            encoders[form] = StreamingEncoder(graph, threads=1)
        compare(test, gemma, encoders)
    gemma.close()


if __name__ == "__main__":
    main()
