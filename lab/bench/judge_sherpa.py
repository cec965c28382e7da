"""Transcribes a voice's speech with a streaming transducer of sherpa-onnx, the second judge of
`bench voices`. Its model must be downloaded by hand; the box ships none."""

from __future__ import annotations

from pathlib import Path

from appliance.hear.words.sherpa_backend import SherpaTranscript
from appliance.pcm import Samples
from appliance.voice.speech_aligner import levelled
from lab.bench.benches import BenchError
from lab.bench.voice_judge import words_of

ROLES = ("encoder", "decoder", "joiner", "tokens")


class SherpaJudge:
    """`folder`: has one file for each of `ROLES` in its name, as sherpa-onnx's releases do.

    Raises BenchError if a role has no file or several.
    """

    name = "sherpa-onnx"

    def __init__(self, folder: Path) -> None:
        files = {}
        for role in ROLES:
            matches = [path for path in sorted(folder.glob(f"*{role}*")) if path.is_file()]
            if len(matches) != 1:
                raise BenchError(
                    f"{folder} has {len(matches)} files of the name {role}.",
                    f"A model of sherpa-onnx has one file each for {', '.join(ROLES)}.",
                )
            files[role] = matches[0]
        self._model = SherpaTranscript(files)

    def heard(self, sound: Samples) -> list[str]:
        """The recognised words; the sound is levelled as for pocketsphinx."""
        self._model.start()
        self._model.process(levelled(sound))
        return words_of(self._model.hypothesis().text)
