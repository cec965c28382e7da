"""Makes signed bundles of voice programs, and installs them in a folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.update.archive_parts import sign_archive
from appliance.voice.engine import store
from appliance.voice.engine.installer import EngineInstaller
from appliance.voice.engine.pack import pack
from appliance.voice.protocol import PROTOCOL
from tests.update.release.workshop import MADE_S, Workshop

SAID: dict[str, Any] = {"engine": "piper", "protocol": PROTOCOL, "licence": "any", "machine": "any",
        "python": "any", "made_s": MADE_S}  # fmt: skip


@dataclass
class Bench:
    """`workshop`: makes and signs bundles. `root`: the folder of installed programs."""

    workshop: Workshop
    root: Path

    def make(self, version: str = "0.1.0", *, key: Path | None = None, runs: str = "true",
             name: str = "", **said: Any) -> Path:  # fmt: skip
        tree = self.workshop.folder / f"voice-{version}-{name}"
        (tree / "bin").mkdir(parents=True, exist_ok=True)
        (tree / "bin/voice").write_text(f"#!/bin/sh\n{runs}\n")
        (tree / "bin/voice").chmod(0o755)
        (tree / "version").write_text(f"{version} {name}")
        into = self.workshop.folder / f"made-{name}"
        into.mkdir(exist_ok=True)
        bundle = pack(tree, into, **{**SAID, "version": version, **said})
        sign_archive(bundle, key or self.workshop.key)
        return bundle

    def installer(
        self, tries: Callable[[Path], str] = lambda _: "", **more: object
    ) -> EngineInstaller:
        options = {"clock_s": lambda: float(MADE_S), **more}
        return EngineInstaller(self.root, tries, self.workshop.signers, **options)  # type: ignore[arg-type]

    def here(self) -> list[str]:
        """The versions that a speaker would find."""
        return [engine.manifest.version for engine in store.installed(self.root)]

    def left_over(self) -> list[str]:
        """Hidden files other than the lock."""
        return sorted(path.name for path in self.root.glob(".*") if path.name != ".lock")
