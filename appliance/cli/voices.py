"""`interlude voices`: lists, tries and installs the voices of this box and their programs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from appliance.cli.speech_file import say_to_file
from appliance.models.catalogue import megabytes
from appliance.settings import Settings
from appliance.voice.description import descriptions
from appliance.voice.engine import manifest as manifests
from appliance.voice.engine import store
from appliance.voice.engine.archive import BUNDLE
from appliance.voice.engine.check import self_check
from appliance.voice.engine.installer import EngineInstaller

MOST_FILES = 8  # installed from one folder


def cli(args: argparse.Namespace, settings: Callable[[], Settings]) -> int:
    """Run the command that follows `interlude voices`. Returns the exit code."""
    if args.doing == "list":
        return cli_list(settings())
    if args.doing == "say":
        seconds = say_to_file(settings(), args.text, args.voice, args.out, args.times)
        print(f"{args.out}: {seconds:.2f} s")
        return 0
    check = _untried if args.cold else self_check
    installer = EngineInstaller(settings().programs_path(), check)
    return cli_install(installer, args.file, downgrade=args.downgrade)


def cli_list(settings: Settings, console: Console | None = None) -> int:
    """Print the installed voices, what speaks each, and the programs. Starts no program, unlike
    `interlude check`."""
    console = console or Console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("voice", "spoken by", "from", "language", "licence", "size"):
        table.add_column(heading)
    for voice in descriptions(settings):
        size = "" if voice.size_bytes is None else megabytes(voice.size_bytes)
        table.add_row(*map(str, voice[:-1]), size)
    console.print(table)
    for engine in store.installed(settings.programs_path()):
        manifest = engine.manifest
        fit = manifests.unfit(manifest) or "fits this box"
        console.print(
            f"program {manifest.engine} {manifest.version}, {manifest.licence}: {fit}",
            highlight=False,
        )
    return 0


def _untried(_: Path) -> str:
    return ""


def cli_install(installer: EngineInstaller, file: Path, *, downgrade: bool) -> int:
    """Install an archive, or each archive in a folder. Raises what EngineInstaller.install
    raises."""
    for archive in handed_over(file):
        manifest, changed = installer.install(archive, downgrade=downgrade)
        name = f"{manifest.engine} {manifest.version}"
        if manifest.voices:
            name += f" with {', '.join(manifest.voices)}"
        print(f"installed {name}" if changed else f"{name} is installed already", flush=True)
    return 0


def handed_over(file: Path) -> list[Path]:
    """The file itself, or the archives at the top level of a folder, such as a USB stick."""
    if not file.is_dir():
        return [file]
    return sorted(file.glob(f"*{BUNDLE.suffix}"))[:MOST_FILES]
