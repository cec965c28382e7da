"""espeak-ng as a subprocess: the voice for languages without another, and the fallback of all.

In: text on its standard input, never on a command line. Out: WAV on its standard output.
"""

from __future__ import annotations

import os
import shutil
import subprocess

import numpy as np

from appliance.errors import VoiceError
from appliance.language.catalogue import SOURCE
from appliance.language.codes import NAMES, espeak_voice
from appliance.messages.speech import SentenceTokens
from appliance.pcm import EMPTY, Samples, to_float
from appliance.runtime.enabled import ESPEAK
from appliance.voice.interface import Speech
from appliance.voice.postprocess import SpeechPostprocessor, gain_for
from appliance.voice.spoken_words import SpokenWord

# Loudness of espeak-ng 1.51's en-us at its default amplitude, by postprocess.rms_dbfs over the
# sentences of tests/voice/test_espeak.py. A constant, so that the first samples need not wait for
# a measurement.
LOUDNESS_DBFS = -20.7
_WAV_HEADER_BYTES = 44
_READ_BYTES = 16384
_REAP_S = 0.02  # for its exit: its output is complete already


class EspeakVoice:
    """The voice espeak-ng. Needs the Debian package espeak-ng."""

    name = ESPEAK
    ready = True
    problem = ""

    def __init__(
        self, words_per_minute: int, program: str = "espeak-ng", *, language: str = SOURCE
    ) -> None:
        """`language`: a code of language/codes.py. Raises VoiceError if the program is not
        installed, or has no voice for the language."""
        if language not in NAMES:
            raise VoiceError(f"espeak-ng has no voice for the language `{language}`.")
        self.language = language
        if shutil.which(program) is None:
            raise VoiceError(f"{program} is not installed.", "Install the package espeak-ng.")
        self._command: tuple[str, ...] = (
            program,
            "--stdin",
            "--stdout",
            "-v",
            espeak_voice(language),
            "-s",
            str(words_per_minute),
        )
        self._dying: list[subprocess.Popen[bytes]] = []

    def synthesise(self, text: str, tokens: SentenceTokens | None = None) -> Speech:
        self._dying = [process for process in self._dying if process.poll() is None]
        try:
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
            )
        except OSError as error:
            raise VoiceError(f"espeak-ng cannot be started ({error.strerror}).") from error
        self._dying.append(process)
        return _EspeakSpeech(process, text)

    def poll(self) -> None:
        """Do nothing: each sentence has its own process."""

    def close(self) -> None:
        for process in self._dying:
            process.kill()
            process.wait()
        self._dying = []


class _EspeakSpeech:
    def __init__(self, process: subprocess.Popen[bytes], text: str) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._fd = process.stdout.fileno()
        os.set_blocking(self._fd, False)
        self._bytes = b""
        self._postprocessor: SpeechPostprocessor | None = None
        try:
            # A sentence is shorter than a pipe's 64 KiB: this never waits.
            process.stdin.write(text.encode())
            process.stdin.close()
        except BrokenPipeError:
            return  # it ended at once: `read` raises the error

    def fileno(self) -> int:
        return self._fd

    def read(self) -> Samples | None:
        try:
            data = os.read(self._fd, _READ_BYTES)
        except BlockingIOError:
            return EMPTY
        if not data:
            return self._finish()
        self._bytes += data
        if self._postprocessor is None and not self._read_header():
            return EMPTY
        return self._postprocess(last=False)

    def cancel(self) -> None:
        self._process.kill()
        self._close()

    @property
    def words(self) -> tuple[SpokenWord, ...]:
        """Empty: espeak-ng does not report the words of its sound."""
        return ()

    def _read_header(self) -> bool:
        if len(self._bytes) < _WAV_HEADER_BYTES:
            return False
        rate_hz = int.from_bytes(self._bytes[24:28], "little")
        if self._bytes[:4] != b"RIFF" or not 8000 <= rate_hz <= 48000:
            self.cancel()
            raise VoiceError("espeak-ng did not answer with a WAV stream.")
        self._bytes = self._bytes[_WAV_HEADER_BYTES:]
        self._postprocessor = SpeechPostprocessor(rate_hz)
        return True

    def _postprocess(self, *, last: bool) -> Samples:
        assert self._postprocessor is not None
        even_bytes = len(self._bytes) // 2 * 2
        pcm = to_float(np.frombuffer(self._bytes[:even_bytes], "<i2"))
        self._bytes = self._bytes[even_bytes:]
        return self._postprocessor.process(pcm, gain_for(LOUDNESS_DBFS), last=last)

    def _finish(self) -> Samples | None:
        if self._postprocessor is not None:
            rest = self._postprocess(last=True)
            self._postprocessor = None
            if len(rest):
                return rest  # the next read finds the end of the pipe again
        try:
            code = self._process.wait(_REAP_S)
        except subprocess.TimeoutExpired:
            code = 0  # its output is complete; a later call reaps it
        self._close()
        if code:
            raise VoiceError(f"espeak-ng ended with code {code}.")
        return None

    def _close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
