"""`interlude voices …`: the voices of this box, and the programs that speak them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from appliance.models.store import ModelStore
from appliance.settings import Settings
from appliance.voice.engine import manifest as manifests
from appliance.voice.engine import store
from appliance.voice.engine.archive import BUNDLE
from appliance.voice.engine.check import self_check
from appliance.voice.engine.installer import EngineInstaller

MOST_FILES = 8  # of a folder that somebody hands over


def cli(args: argparse.Namespace, settings: Callable[[], Settings]) -> int:
    """What was typed after `interlude voices`."""
    if args.doing == "list":
        return cli_list(settings())
    tries = _untried if args.cold else self_check
    installer = EngineInstaller(settings().programs_path(), tries)
    return cli_install(installer, args.file, downgrade=args.downgrade)


def cli_list(settings: Settings, console: Console | None = None) -> int:
    """The voices that are here, what speaks them, and the programs. Starts none: `interlude check`
    does."""
    console = console or Console()
    root = settings.programs_path()
    engine = store.engine(root, store.PIPER)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("voice", "spoken by", "from"):
        table.add_column(heading)
    fetched = ModelStore.of(settings).piper_voices()
    brought = engine.voices() if engine is not None else {}
    why = store.lacking(root, store.PIPER)
    for name in dict.fromkeys([*fetched, *brought]):
        speaks = f"{store.PIPER} {engine.manifest.version}" if engine else f"nothing: {why}"
        table.add_row(name, speaks, "the models" if name in fetched else "the program's bundle")
    table.add_row("espeak", "espeak-ng", "the system")
    console.print(table)
    for each in store.installed(root):
        said = manifests.unfit(each.manifest) or "fits this box"
        console.print(
            f"program {each.manifest.engine} {each.manifest.version}, {each.manifest.licence}: "
            f"{said}", highlight=False,
        )  # fmt: skip
    return 0


def _untried(_: Path) -> str:
    return ""


def cli_install(installer: EngineInstaller, file: Path, *, downgrade: bool) -> int:
    """Install an archive, or each in a folder. Raises what EngineInstaller.install raises."""
    for each in handed_over(file):
        manifest, changed = installer.install(each, downgrade=downgrade)
        name = f"{manifest.engine} {manifest.version}"
        if manifest.voices:
            name += f" with {', '.join(manifest.voices)}"
        print(f"installed {name}" if changed else f"{name} is installed already", flush=True)
    return 0


def handed_over(file: Path) -> list[Path]:
    """The file itself, or the bundles at the top of a folder, such as a stick."""
    if not file.is_dir():
        return [file]
    return sorted(file.glob(f"*{BUNDLE.suffix}"))[:MOST_FILES]
