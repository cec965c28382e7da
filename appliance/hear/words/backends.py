"""Which recogniser and which wake word spotter this box has: by the settings and what is there."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from appliance.errors import ModelError
from appliance.hear.words.interfaces import WakeWordSpotter, WordRecogniser
from appliance.models.store import ModelStore
from appliance.settings import Settings

KEYWORDS, TRANSCRIPT = "keywords-en", "words-en"  # of the catalogue
SPOKEN = "en"  # the one language that these, and pocketsphinx's model, understand


def recogniser(settings: Settings) -> WordRecogniser | None:
    """By `hearing.words.recogniser`. Raises ModelError where the one that it names is not here."""
    words = settings.hearing.words
    listed = (*dict.fromkeys((*words.yields, *words.stop, *words.carry_on)),)
    wanted = words.recogniser
    if wanted == "none" or not any_recogniser(settings):
        return None
    if wanted in ("auto", "sherpa"):
        for name in (KEYWORDS, TRANSCRIPT):
            files = model_files(settings, name)
            if files and _has("sherpa_onnx"):
                from appliance.hear.words import sherpa_backend

                if name == KEYWORDS:
                    return sherpa_backend.SherpaKeywords(files, listed)
                return sherpa_backend.SherpaTranscript(files)
        if wanted == "sherpa":
            raise ModelError(
                "`hearing.words.recogniser` is sherpa, but none of its models is installed.",
                f"`interlude models fetch {KEYWORDS}`, or choose auto.",
            )
    if _has("pocketsphinx"):
        from appliance.hear.words.pocketsphinx_backend import PocketsphinxRecogniser

        return PocketsphinxRecogniser(listed)
    if wanted == "pocketsphinx":
        raise ModelError("`hearing.words.recogniser` is pocketsphinx, which is not installed.",
                         "`pip install pocketsphinx`, or choose auto.")  # fmt: skip
    return None


def any_recogniser(settings: Settings) -> bool:
    """Whether there is one, or should be by the owner's wish."""
    wanted = settings.hearing.words.recogniser
    if wanted == "auto" and settings.own_language != SPOKEN:
        return False  # of another language they would hear English words, and these decide
    if wanted == "auto":
        return _has("pocketsphinx") or any(
            model_files(settings, name) for name in (KEYWORDS, TRANSCRIPT)
        )
    return wanted != "none"


def wake_word_spotter(settings: Settings) -> WakeWordSpotter:
    """For `hearing.wake.phrase`: a network made for that very phrase, else one that spots any.

    Raises ModelError where nothing here can hear it.
    """
    wake = settings.hearing.wake
    if _has("pymicro_wakeword"):
        from appliance.hear.words import microwakeword_backend

        if wake.phrase in microwakeword_backend.PHRASES:
            return microwakeword_backend.MicroWakeWordSpotter(wake.phrase, wake.sensitivity)
    files = model_files(settings, KEYWORDS)
    if files and _has("sherpa_onnx"):
        from appliance.hear.words.sherpa_backend import SherpaWakeWord

        return SherpaWakeWord(files, wake.phrase, wake.sensitivity)
    if _has("pocketsphinx"):
        from appliance.hear.words.pocketsphinx_backend import PocketsphinxWakeWord

        return PocketsphinxWakeWord(wake.phrase, wake.sensitivity)
    raise ModelError(
        f"Nothing on this box can hear the wake word `{wake.phrase}`.",
        f"`interlude models fetch {KEYWORDS}`, or `pip install pymicro-wakeword` and one of its "
        "phrases: okay nabu, hey jarvis, hey mycroft, alexa.",
    )


def words_wanted(settings: Settings) -> bool:
    """Whether the process `words` runs: it waits for a wake word, or there is a recogniser for what
    is said over the box."""
    return settings.mode == "wake_word" or any_recogniser(settings)


def model_files(settings: Settings, name: str) -> dict[str, Path] | None:
    """The files of a model by their role, if all of it is installed."""
    store = ModelStore.of(settings)
    model = store.models[name]
    if store.state(model) != "installed":
        return None
    return {role: store.path(model, file) for role, file in model.files.items()}


def _has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None
