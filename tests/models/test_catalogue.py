"""The shipped catalogue, and how models are resolved from it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from appliance import settings
from appliance.errors import ModelError
from appliance.models import catalogue
from appliance.models.catalogue import CatalogueModel
from appliance.models.store import ModelStore, resolve
from appliance.settings import Settings
from tests.models.laid import lay

MODELS = catalogue.load()


def box(tmp_path: Path, model: str = "pocket") -> Settings:
    return settings.load(
        Path(os.devnull), {"state_dir": str(tmp_path), "thinking": {"model": model}}
    )


def test_the_catalogue_has_the_models_of_the_settings_and_two_voices_and_recognisers() -> None:
    assert {"pocket", "gemma-4-e2b", "gemma-4-e4b"} <= set(MODELS)
    assert sum(model.kind == "voice" for model in MODELS.values()) >= 2
    assert sum(model.kind == "words" for model in MODELS.values()) >= 2


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_every_model_names_its_source_and_licence(model: CatalogueModel) -> None:
    assert model.licence
    assert model.licence_url.startswith("https://")
    assert model.about.endswith((".", "demo and tests."))
    assert model.shipped or "/" in (model.repository or "")
    assert model.shipped == (model.name == "pocket")


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_every_model_has_the_files_of_its_kind(model: CatalogueModel) -> None:
    required = {
        "language": {"text", "audio"},
        "voice": {"model", "config"},
        "words": {"encoder", "decoder", "joiner", "tokens"},
        "codec": {"weights"},
    }
    assert required[model.kind] <= set(model.files)
    assert (model.language is not None) == (model.kind == "language")
    names = [name for file in model.files.values() for name in {file.name, file.kept}]
    assert len(set(names)) == len(names), "two files would have the same path"


def test_the_config_of_a_voice_has_the_name_that_piper_expects() -> None:
    for model in MODELS.values():
        if model.kind == "voice":
            assert model.files["config"].name == model.files["model"].name + ".json"


def test_gemma_is_sampled_as_its_makers_advise_and_the_pocket_model_is_greedy() -> None:
    for name in ("gemma-4-e2b", "gemma-4-e2b-qat", "gemma-4-e4b"):
        own = MODELS[name].language
        assert own is not None
        assert (own.temperature, own.top_p, own.top_k) == (1.0, 0.95, 64)
    assert MODELS["pocket"].language is not None
    assert MODELS["pocket"].language.temperature == 0


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_no_model_has_bf16_weights_which_a_pi_cannot_compute(model: CatalogueModel) -> None:
    encoder = model.files.get("audio")
    assert encoder is None or model.shipped or encoder.part == "f16"
    assert not any("BF16" in file.path for file in model.files.values() if file.part is None)


def test_an_unknown_model_is_an_error_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no model `gemma-4-e2`.*Did you mean `gemma-4-e2b`"):
        resolve(box(tmp_path, "gemma-4-e2"))


def test_a_model_of_another_kind_is_refused_as_a_language_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"ljspeech is not a language model.*gemma-4-e2b"):
        resolve(box(tmp_path, "ljspeech"))


def test_a_model_is_resolved_only_when_it_is_complete(tmp_path: Path) -> None:
    owner_settings = box(tmp_path, "gemma-4-e2b")
    store = ModelStore.of(owner_settings)
    model = store.models["gemma-4-e2b"]
    with pytest.raises(ModelError, match=r"not on this box.*models fetch gemma-4-e2b"):
        resolve(owner_settings)
    lay(store, model)
    found = resolve(owner_settings)
    assert found.text.name == "gemma-4-E2B-it-Q4_K_M.gguf"
    assert found.audio.parent == tmp_path / "models/gemma-4-e2b"
    assert (found.sampling.temperature, found.sampling.top_k) == (1.0, 64)
    found.audio.unlink()
    with pytest.raises(ModelError, match="only partly here"):
        resolve(owner_settings)


def test_a_truncated_marker_counts_as_none(tmp_path: Path) -> None:
    owner_settings = box(tmp_path, "gemma-4-e2b")
    store = ModelStore.of(owner_settings)
    model = store.models["gemma-4-e2b"]
    lay(store, model)
    marker = store.folder(model) / "whole.json"
    marker.write_bytes(marker.read_bytes()[:20])
    assert store.state(model) == "partial"


def test_the_shipped_model_needs_no_fetch(tmp_path: Path) -> None:
    store = ModelStore.of(box(tmp_path))
    pocket = store.models["pocket"]
    assert store.state(pocket) != "missing"
    assert resolve(box(tmp_path)).text.is_file()


@pytest.mark.parametrize(
    "text",
    ["a: 3", "a: {kind: car}", "- a", "a: {kind: voice, colour: red}", ":", "a: {files: {x: {}}}"],
)
def test_an_invalid_catalogue_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "catalogue.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match="not a catalogue"):
        catalogue.load(path)


def test_an_invalid_checksum_is_refused(tmp_path: Path) -> None:
    text = catalogue.CATALOGUE.read_text(encoding="utf-8")
    path = tmp_path / "catalogue.yaml"
    path.write_text(text.replace("740185b21d22", "unknown"), encoding="utf-8")
    with pytest.raises(ModelError, match="not a catalogue"):
        catalogue.load(path)
