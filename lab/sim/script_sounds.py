"""Makes the sound of an entry of the owner's script: a text, a recording or a noise."""

from __future__ import annotations

from lab.sim import speech_source, synthetic_noises
from lab.sim.scene import Scene, ScriptedUtterance
from lab.sim.speech_source import SPEECH_DB, OwnerSound


def make(scene: Scene, entry: ScriptedUtterance) -> OwnerSound:
    """The sound of `entry`. Raises SceneError for a file that is no sound.

    Without `level_db`, a recording keeps its own level; a text or a noise gets that of speech.
    """
    if entry.wav is not None:
        return speech_source.recorded(scene.file(entry.wav), entry.level_db)
    level_db = SPEECH_DB if entry.level_db is None else entry.level_db
    if entry.noise is not None:
        return speech_source.at_level(
            synthetic_noises.noise(entry.noise, entry.seed).samples, level_db
        )
    assert entry.say is not None
    return speech_source.at_level(
        speech_source.spoken(entry.say, entry.voice, entry.speed, entry.pitch), level_db
    )
