"""The installed voice programs: the newest that fits is used; a missing one has a reason."""

from __future__ import annotations

from pathlib import Path

from appliance.voice.engine import store
from tests.voice.bundles import plant


def test_complete_programs_are_listed_newest_first(tmp_path: Path) -> None:
    for version in ("0.2.0", "0.10.0", "0.9.0"):
        plant(tmp_path, "", version=version)
    (tmp_path / "piper-0.11.0").mkdir()  # without its manifest
    plant(tmp_path, "", version="0.12.0").rename(tmp_path / ".piper-0.12.0.part")
    assert [engine.manifest.version for engine in store.installed(tmp_path)] == [
        "0.10.0", "0.9.0", "0.2.0",
    ]  # fmt: skip
    assert store.installed(tmp_path / "none") == []


def test_the_newest_program_that_fits_is_used(tmp_path: Path) -> None:
    plant(tmp_path, "", version="0.1.0")
    plant(tmp_path, "", version="0.2.0", machine="pdp11")
    plant(tmp_path, "", version="0.3.0", engine="other")
    found = store.engine(tmp_path, store.PIPER)
    assert found is not None
    assert found.manifest.version == "0.1.0"
    assert found.command(Path("a.onnx")) == (str(found.folder / "bin/voice"), "a.onnx")


def test_the_reason_for_a_missing_program_is_reported(tmp_path: Path) -> None:
    assert "piper, is not installed" in store.lacking(tmp_path, store.PIPER)
    plant(tmp_path, "", version="0.2.0", machine="pdp11")
    assert "made for pdp11" in store.lacking(tmp_path, store.PIPER)
    plant(tmp_path, "", version="0.1.0")
    assert store.lacking(tmp_path, store.PIPER) == ""


def test_a_bundled_voice_is_one_network_in_a_folder_of_its_name(tmp_path: Path) -> None:
    folder = plant(tmp_path, "", voices=("amy", "joe", "two"))
    for place in ("amy/a.onnx", "two/a.onnx", "two/b.onnx", "unsaid/a.onnx"):
        path = folder / "voices" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (found,) = store.installed(tmp_path)
    assert found.voices() == {"amy": folder / "voices/amy/a.onnx"}
