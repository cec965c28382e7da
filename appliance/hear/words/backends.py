"""Creates the recogniser and the wake word spotter by the settings and what is installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from appliance.errors import ModelError
from appliance.hear.words.interfaces import WakeWordSpotter, WordRecogniser
from appliance.models.store import ModelStore
from appliance.settings import Settings

KEYWORDS, TRANSCRIPT = "keywords-en", "words-en"  # names in the catalogue
SPOKEN = "en"  # the only language of these models and of pocketsphinx's


def recogniser(settings: Settings, store: ModelStore | None = None) -> WordRecogniser | None:
    """The one of `hearing.words.recogniser`; None for none. Raises ModelError if it is missing.

    `store`: of the models, also below; None: that of the settings.
    """
    words = settings.hearing.words
    lists = (*words.yields, *words.stop, *words.repeat, *words.carry_on)
    listed = (*dict.fromkeys(lists),)
    wanted = words.recogniser
    if wanted == "none" or not any_recogniser(settings):
        return None
    if wanted in ("auto", "sherpa"):
        for name in (KEYWORDS, TRANSCRIPT):
            files = model_files(settings, name, store)
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
    """Whether there is a recogniser, or the settings require one."""
    wanted = settings.hearing.words.recogniser
    if wanted == "auto" and settings.own_language != SPOKEN:
        return False  # they would find English words in another language, as evidence
    if wanted == "auto":
        return _has("pocketsphinx") or any(
            model_files(settings, name) for name in (KEYWORDS, TRANSCRIPT)
        )
    return wanted != "none"


def wake_word_spotter(settings: Settings, store: ModelStore | None = None) -> WakeWordSpotter:
    """The spotter for `hearing.wake.phrase`: a network for that phrase, else one for any phrase.

    Raises ModelError if no installed spotter supports the phrase.
    """
    wake = settings.hearing.wake
    if _has("pymicro_wakeword"):
        from appliance.hear.words import microwakeword_backend

        if wake.phrase in microwakeword_backend.PHRASES:
            return microwakeword_backend.MicroWakeWordSpotter(wake.phrase, wake.sensitivity)
    files = model_files(settings, KEYWORDS, store)
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
    """Whether the process `words` runs: the mode is wake_word, or there is a recogniser for words
    said over an answer."""
    return settings.mode == "wake_word" or any_recogniser(settings)


def model_files(
    settings: Settings, name: str, store: ModelStore | None = None
) -> dict[str, Path] | None:
    """The files of a model by their role; None unless it is completely installed."""
    store = store or ModelStore.of(settings)
    model = store.models[name]
    if store.state(model) != "installed":
        return None
    return {role: store.path(model, file) for role, file in model.files.items()}


def _has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None
