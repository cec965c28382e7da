"""Writes a trained head and codec as the appliance's files. In: the corpus's folder, the model's
file, the folder to write. The head's loudness is measured on sentences of the corpus."""

import json
import sys
from pathlib import Path

import numpy as np
import torch

from appliance.voice.head.speech_head import SpeechHead
from appliance.voice.postprocess import rms_dbfs
from training.speech_head import corpus, learn_codec, learn_frames, learn_phones
from training.speech_head.bands import RATE
from training.speech_head.export import write_codec, write_head

MEASURED = 12  # rows for the loudness


def ship(folder: Path, model: Path, into: Path) -> None:
    into.mkdir(parents=True, exist_ok=True)
    codec = learn_codec.load(folder)
    head, symbols = learn_phones.load(folder, learn_frames.LAST)
    write_codec(codec, into)
    write_head(head, codec, symbols, model, into, dbfs=-20.0)
    _, rows, arrays = corpus.load(folder)
    said, speaking = [], SpeechHead(into)
    for r in [r for r in rows if r["kind"] == "made"][:MEASURED]:
        states = arrays["states"][r["token"] : r["token"] + r["tokens"]].astype(np.float32)
        stream = speaking.begin()
        stream.push(states[:, 1:], states[:, 0])
        stream.end()
        said += [f.samples for f in stream.frames()]
    loud = float(rms_dbfs(np.concatenate(said), RATE))
    manifest = json.loads((into / "head.json").read_text())
    manifest["dbfs"] = round(loud, 1)
    (into / "head.json").write_text(json.dumps(manifest, indent=1) + "\n")
    sizes = {f.name: f.stat().st_size for f in sorted(into.iterdir())}
    print(f"{loud:.1f} dBFS, mix {head.reader.mix.softmax(0).tolist()}", sizes)


if __name__ == "__main__":
    torch.set_num_threads(1)
    ship(*map(Path, sys.argv[1:]))
