"""The recogniser and the wake word spotter follow the settings and the installed models."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from appliance import settings
from appliance.errors import ModelError
from appliance.hear.words import backends
from appliance.hear.words.microwakeword_backend import MicroWakeWordSpotter
from appliance.hear.words.pocketsphinx_backend import PocketsphinxRecogniser, PocketsphinxWakeWord
from appliance.hear.words.sherpa_backend import SherpaKeywords, SherpaTranscript, SherpaWakeWord
from appliance.models.catalogue import ModelFile
from appliance.models.store import ModelStore, PinnedRevision
from appliance.settings import Settings
from tests.hear.tiny_transducer import make


def box(state: Path, **hearing: Any) -> Settings:
    return settings.load(overrides={"state_dir": str(state), "hearing": hearing})


def store_with(chosen: Settings, name: str) -> ModelStore:
    """A store whose catalogue has the tests' own transducer under that name, and the files."""
    store = ModelStore.of(chosen)
    model = store.models[name]
    folder = store.folder(model)
    folder.mkdir(parents=True)
    made, files = make(folder), {}
    for role, file in model.files.items():
        path = store.path(model, file)
        if role in made:
            made[role].rename(path)
        else:
            path.write_bytes(b"not used")
        data = path.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        files[role] = ModelFile(path=file.path, size=len(data), sha256=digest)
    model = msgspec.structs.replace(model, files=files)
    store = dataclasses.replace(store, models={**store.models, name: model})
    store.mark_complete(model, PinnedRevision("", {file.path: file for file in files.values()}))
    return store


def test_without_a_fetched_model_pocketsphinx_recognises_words(tmp_path: Path) -> None:
    assert isinstance(backends.recogniser(box(tmp_path)), PocketsphinxRecogniser)


@pytest.mark.parametrize(
    ("name", "kind"), [("keywords-en", SherpaKeywords), ("words-en", SherpaTranscript)]
)
def test_a_fetched_model_is_used(tmp_path: Path, name: str, kind: type) -> None:
    chosen = box(tmp_path, words={"yield": ["wait"], "stop": [], "carry_on": ["okay"]})
    assert isinstance(backends.recogniser(chosen, store_with(chosen, name)), kind)


def test_in_another_language_no_recogniser_runs_unless_the_owner_names_one(tmp_path: Path) -> None:
    german = settings.load(overrides={"state_dir": str(tmp_path), "language": "de"})
    assert backends.recogniser(german) is None
    assert not backends.any_recogniser(german)
    named_recogniser = {"hearing": {"words": {"recogniser": "pocketsphinx"}}}
    wanted = settings.load(
        overrides={"state_dir": str(tmp_path), "language": "de", **named_recogniser}
    )
    assert isinstance(backends.recogniser(wanted), PocketsphinxRecogniser)


def test_the_recogniser_can_be_switched_off(tmp_path: Path) -> None:
    assert backends.recogniser(box(tmp_path, words={"recogniser": "none"})) is None


def test_a_named_recogniser_without_its_model_raises_an_error_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="sherpa") as caught:
        backends.recogniser(box(tmp_path, words={"recogniser": "sherpa"}))
    assert "models fetch" in str(caught.value)


def test_a_phrase_with_its_own_network_uses_microwakeword(tmp_path: Path) -> None:
    assert isinstance(backends.wake_word_spotter(box(tmp_path)), MicroWakeWordSpotter)


def test_another_phrase_uses_sherpa_if_installed_and_pocketsphinx_otherwise(tmp_path: Path) -> None:
    chosen = box(tmp_path, wake={"phrase": "okay"})
    assert isinstance(backends.wake_word_spotter(chosen), PocketsphinxWakeWord)
    store = store_with(chosen, "keywords-en")
    assert isinstance(backends.wake_word_spotter(chosen, store), SherpaWakeWord)


def test_a_phrase_outside_every_vocabulary_raises_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="xyzzy"):
        backends.wake_word_spotter(box(tmp_path, wake={"phrase": "hey xyzzy"}))
