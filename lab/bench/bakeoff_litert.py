"""Measures a candidate of `interlude bench bakeoff` with LiteRT-LM; only this imports litert_lm.

Its package, litert-lm-api, is no dependency and must be installed by hand. The code follows its
Python interface (python/litert_lm at 0307d0d); it was not run with real weights.
"""

from __future__ import annotations

import tempfile
import time
import wave
from pathlib import Path
from typing import Any

from appliance.errors import ModelError
from appliance.pcm import RATE_HZ
from lab.bench.bakeoff_job import DRAWN_TOKENS, PROMPT_TOKENS, Found, Job
from lab.bench.model_memory import Memory
from lab.bench.model_parts import CLIP_S, clip

ANSWER_TOKENS = 8  # limit of each answer: only the first token is timed


def measure(job: Job) -> Found:
    """Measure the job. Raises ModelError if the package is missing or refuses the file."""
    try:
        import litert_lm
    except ImportError as error:
        missing = "The package litert-lm-api is not installed."
        raise ModelError(missing, "Run `pip install litert-lm-api` in this checkout.") from error
    found = Found()
    try:
        cpu = litert_lm.Backend.CPU(thread_count=job.threads)
        with tempfile.TemporaryDirectory(prefix="interlude-litert-") as folder:
            for _ in range(job.repeats):
                result = litert_lm.Benchmark(
                    job.files[0], cpu, prefill_tokens=PROMPT_TOKENS, decode_tokens=DRAWN_TOKENS,
                    cache_dir=folder,
                ).run()  # fmt: skip
                found.prompt_per_s.append(result.last_prefill_tokens_per_second)
                found.drawn_per_s.append(result.last_decode_tokens_per_second)
            with litert_lm.Engine(
                job.files[0], cpu, audio_backend=cpu, max_num_tokens=4096, cache_dir=folder
            ) as engine:
                _ask(engine, job, Path(folder), found)
    except (RuntimeError, ValueError, TypeError, AttributeError) as error:
        raise ModelError(f"LiteRT-LM cannot run {job.files[0]} ({error}).") from error
    return found


def _ask(engine: Any, job: Job, folder: Path, found: Found) -> None:
    """Ask questions in one conversation; a first text message prefills the persona."""
    thinking = job.settings.thinking
    conversation = engine.create_conversation(system_message=thinking.persona)
    conversation.send_message("Hello.", max_output_tokens=ANSWER_TOKENS)
    for number in range(1, job.repeats + 1):
        sound = folder / f"{number}.wav"
        with wave.open(str(sound), "wb") as file:
            file.setparams((1, 2, RATE_HZ, 0, "NONE", ""))
            file.writeframes(clip(CLIP_S, number).samples.tobytes())
        content = [{"type": "audio", "path": str(sound)},
                   {"type": "text", "text": thinking.instruction}]  # fmt: skip
        began_s = time.monotonic()
        first_s = None
        question = {"role": "user", "content": content}
        for _ in conversation.send_message_async(question, max_output_tokens=ANSWER_TOKENS):
            first_s = first_s or time.monotonic() - began_s
        found.first_token_s.append(first_s or time.monotonic() - began_s)
    memory = Memory.now()
    found.resident_mib, found.peak_mib = memory.resident, memory.peak
