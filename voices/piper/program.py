"""Runs piper-tts as a program with Interlude's voice protocol (docs/voices.md) on its pipes.

    program.py MODEL.onnx       the config is MODEL.onnx.json
    program.py --check          exit code 0 if it can run on this machine

This file is under the Apache License 2.0. It imports piper-tts, which is GPL-3.0-or-later: both
together are a program under GPL-3.0-or-later. It shares no process and no module with Interlude.
"""

from __future__ import annotations

import json
import os
import queue
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # read once, when onnxruntime is loaded
LIBRARY = Path(__file__).resolve().parent / "lib"
if LIBRARY.is_dir():
    sys.path.insert(0, str(LIBRARY))

import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402
from piper import PiperVoice  # noqa: E402
from piper.config import PiperConfig  # noqa: E402
from piper.phonemize_espeak import EspeakPhonemizer  # noqa: E402

PROTOCOL = 1
# A longer text is synthesised in parts: the first sound comes sooner, memory is limited (VITS needs
# about 1 MB per phoneme), and there are more points at which it can stop.
PART_CHARACTERS = 160
_CLAUSE_END = re.compile(r"[,;:.!?]\s+")


def parts(text: str, limit: int = PART_CHARACTERS) -> Iterator[tuple[int, int]]:
    """Start and end of the parts of `text`: at most `limit` characters each, split after the last
    clause that fits, else between words, else anywhere."""
    start = 0
    while start < len(text):
        end = len(text)
        if end - start > limit:
            window = text[start : start + limit + 1]
            clauses = [found.end() for found in _CLAUSE_END.finditer(window)]
            end = start + (clauses[-1] if clauses else window.rfind(" ") + 1 or limit)
        if text[start:end].strip():
            yield start, end
        start = end


class Session:
    """An onnxruntime session whose runs another thread can terminate."""

    def __init__(self, model: Path) -> None:
        options = onnxruntime.SessionOptions()
        # One thread, without spinning: the box's listener runs on the same core.
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3  # errors only; warnings about unused weights are of no use
        self._session = onnxruntime.InferenceSession(
            str(model), options, providers=["CPUExecutionProvider"]
        )
        names = {node.name for node in self._session.get_inputs()}
        if not {"input", "input_lengths", "scales"} <= names:
            raise ValueError(f"{model.name} is an ONNX model, but not a Piper voice")
        self.options = onnxruntime.RunOptions()

    def run(self, outputs: Any, inputs: Any) -> Any:
        return self._session.run(outputs, inputs, self.options)


class Request:
    """One sentence. `options`: its `terminate` stops onnxruntime between two nodes of the graph."""

    def __init__(self, number: int, text: str) -> None:
        self.number, self.text = number, text
        self.options = onnxruntime.RunOptions()
        self.stopped = False

    def stop(self) -> None:
        self.stopped = True
        self.options.terminate = True


class Program:
    """Two threads: one reads requests, so that a stop takes effect at once; one synthesises."""

    def __init__(self, model: Path, output_fd: int) -> None:
        config = json.loads(model.with_name(model.name + ".json").read_text(encoding="utf-8"))
        self._session = Session(model)
        self._voice = PiperVoice(session=self._session, config=PiperConfig.from_dict(config))
        self._output_fd = output_fd
        self._requests: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._open: dict[int, Request] = {}
        self._lock = threading.Lock()

    def run(self) -> None:
        threading.Thread(target=self._read, daemon=True).start()
        self._send({"voice": PROTOCOL, "rate_hz": self._voice.config.sample_rate})
        while (request := self._requests.get()) is not None:
            try:
                self._synthesise(request)
            except Exception as error:  # noqa: BLE001  # piper and its C code may raise anything
                why = str(error).strip().split("\n")[0][:200] or type(error).__name__
                self._end(request, {"done": request.number} if request.stopped else
                          {"failed": request.number, "why": why})  # fmt: skip
            else:
                self._end(request, {"done": request.number})

    def _read(self) -> None:
        for line in sys.stdin:
            message = json.loads(line)
            if "say" in message:
                request = Request(message["say"], message["text"])
                with self._lock:
                    self._open[request.number] = request
                self._requests.put(request)
            elif "stop" in message:
                with self._lock:
                    stopped = self._open.get(message["stop"])
                if stopped is not None:
                    stopped.stop()
        os._exit(0)  # end of input: the speaker has ended

    def _synthesise(self, request: Request) -> None:
        for begin, end in parts(request.text):
            self._session.options = request.options
            for chunk in self._voice.synthesize(request.text[begin:end]):
                if request.stopped:
                    return
                sound = np.atleast_1d(chunk.audio_float_array)
                pcm = np.rint(np.clip(sound, -1.0, 1.0) * 32767).astype("<i2").tobytes()
                self._send({"sound": request.number, "frames": len(pcm) // 2,
                            "from": begin, "to": end}, pcm)  # fmt: skip

    def _end(self, request: Request, answer: dict[str, object]) -> None:
        with self._lock:
            self._open.pop(request.number, None)
        self._send(answer)

    def _send(self, answer: dict[str, object], pcm: bytes = b"") -> None:
        rest = memoryview(json.dumps(answer).encode() + b"\n" + pcm)
        while rest:
            rest = rest[os.write(self._output_fd, rest) :]


def main() -> int:
    if sys.argv[1:] == ["--check"]:
        return 0 if EspeakPhonemizer().phonemize("en-us", "Yes.") else 70  # EX_SOFTWARE
    output_fd = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print goes to stderr
    try:
        program = Program(Path(sys.argv[1]), output_fd)
    except Exception as error:  # noqa: BLE001  # any file that is not a voice
        said = str(error).strip().split("\n")[0][:200] or type(error).__name__
        print(f"{sys.argv[1]} cannot be loaded: {said}", file=sys.stderr)
        return 65  # EX_DATAERR
    program.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
