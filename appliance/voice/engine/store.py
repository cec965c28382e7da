"""Finds the installed voice programs. Every user may read them; only root may change them.

/opt/interlude/voices/piper-0.1.0/           complete if it has voice.json, which is written last
    bin/voice MODEL                          the program
    voices/NAME/X.onnx, X.onnx.json          voices that came with it
    LICENSE…, SOURCES.md
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from appliance.update.signed_manifest import version_key
from appliance.voice.engine import manifest as manifests
from appliance.voice.engine.manifest import EngineManifest

PIPER = "piper"  # the engine of every voice in the catalogue, and of an owner's own


@dataclass(frozen=True)
class Engine:
    """One program, unpacked and complete."""

    manifest: EngineManifest
    folder: Path

    def command(self, model: Path) -> tuple[str, ...]:
        """The command that speaks with the voice of `model`."""
        return (str(self.folder / "bin/voice"), str(model))

    def voices(self) -> dict[str, Path]:
        """The voices that came with it: name → ONNX file."""
        found = {}
        for name in self.manifest.voices:
            models = sorted((self.folder / "voices" / name).glob("*.onnx"))
            if len(models) == 1:
                found[name] = models[0]
        return found


def installed(root: Path) -> list[Engine]:
    """All complete programs below `root`, the newest first, also those for another machine."""
    if not root.is_dir():
        return []
    named = [path for path in root.iterdir() if not path.name.startswith(".")]
    found = [Engine(manifest, path) for path in named if (manifest := manifests.read(path))]
    return sorted(found, key=lambda engine: version_key(engine.manifest.version), reverse=True)


def engine(root: Path, name: str) -> Engine | None:
    """The newest program of that name that this box can run, or None."""
    return next(
        (candidate for candidate in installed(root)
         if candidate.manifest.engine == name and not manifests.unfit(candidate.manifest)), None,
    )  # fmt: skip


def lacking(root: Path, name: str) -> str:
    """Why there is no usable engine of that name, as a sentence; "" if there is one."""
    if engine(root, name) is not None:
        return ""
    of_name = [each for each in installed(root) if each.manifest.engine == name]
    if of_name:
        return manifests.unfit(of_name[0].manifest)
    return f"The program that speaks it, {name}, is not installed."
