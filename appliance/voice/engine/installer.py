"""Installs a voice's program: checks the bundle, unpacks and tests it, removes the former one.

If it is interrupted at any point, the box has a complete program, the old or the new one. A bad
bundle changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from appliance.errors import ReleaseRefused
from appliance.update.handed_over_file import HandedOverFile, open_handed_over
from appliance.update.install_lock import locked
from appliance.update.release.disk_changes import Disk
from appliance.update.signature import SIGNERS
from appliance.update.signed_manifest import fits
from appliance.voice.engine import manifest as manifests
from appliance.voice.engine import store
from appliance.voice.engine.archive import BUNDLE, EngineArchive
from appliance.voice.engine.manifest import EngineManifest

ASIDE = ".aside"  # suffix of a complete folder while another replaces it
COPY = ".handed.voice"  # name of the bundle's copy while it is unpacked

Try = Callable[[Path], str]  # runs a program's self-check; returns the problem, or ""


@dataclass(frozen=True)
class EngineInstaller:
    """`root`: folder of the programs. `tries`: runs the self-check as the user it will run as."""

    root: Path
    tries: Try
    signers: Path = SIGNERS
    disk: Disk = field(default_factory=Disk)
    clock_s: Callable[[], float] = time.time

    def install(
        self, file: Path | HandedOverFile, *, downgrade: bool = False
    ) -> tuple[EngineManifest, bool]:
        """Install a bundle. Returns its manifest, and whether anything changed. Raises
        ReleaseRefused, InstallDeferred, StorageError."""
        self.disk.make_folder(self.root)
        with locked(self.root / ".lock"), open_handed_over(file, BUNDLE.most_bytes) as source_file:
            self._clean_up()
            bundle = EngineArchive(source_file, self.signers)
            manifest = bundle.manifest
            installed = [
                engine for engine in store.installed(self.root)
                if engine.manifest.engine == manifest.engine
            ]  # fmt: skip
            if any(engine.manifest == manifest for engine in installed):
                return manifest, False
            current_version = next(
                (e.manifest.version for e in installed if not manifests.unfit(e.manifest)), None
            )
            if problem := manifests.unfit(manifest):
                raise ReleaseRefused(problem)
            fits(
                manifest,
                current_version,
                downgrade=downgrade,
                now_s=self.clock_s(),
                back="--downgrade",
            )
            self._place(bundle)
            for engine in installed:
                if engine.folder.exists() and engine.folder != self._folder(manifest):
                    self.disk.remove_tree(engine.folder)
            return manifest, True

    def _folder(self, manifest: EngineManifest) -> Path:
        return self.root / f"{manifest.engine}-{manifest.version}"

    def _place(self, bundle: EngineArchive) -> None:
        """Unpack and test it, then rename it to its place. A folder of the same version with other
        files is renamed first, and removed only after the second rename."""
        folder = self._folder(bundle.manifest)
        part = self.root / f".{folder.name}.part"
        bundle.unpack(part, self.root / COPY, self.disk, check=self._check)
        if folder.exists():
            aside = self.root / f".{folder.name}{ASIDE}"
            self.disk.rename(folder, aside)
            self.disk.rename(part, folder)
            self.disk.remove_tree(aside)
        else:
            self.disk.rename(part, folder)

    def _check(self, part: Path) -> None:
        if problem := self.tries(part):
            raise ReleaseRefused(f"The voice program does not run here: {problem}.")

    def _clean_up(self) -> None:
        """Remove the remains of an interrupted installation: we hold the lock, so none is running.
        A folder that was renamed for a new one that is missing gets its name back."""
        for path in sorted(self.root.glob(f".*{ASIDE}")):
            place = self.root / path.name.removeprefix(".").removesuffix(ASIDE)
            if not place.exists() and manifests.read(path) is not None:
                self.disk.rename(path, place)
        for path in list(self.root.iterdir()):
            if path.is_dir() and not path.is_symlink():
                if path.name.startswith(".") or manifests.read(path) is None:
                    self.disk.remove_tree(path)
            elif path.name != ".lock":
                self.disk.remove(path)
