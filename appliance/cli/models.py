"""`interlude models list|fetch|verify`: the commands by which an owner handles the models."""

from __future__ import annotations

import sys
from collections.abc import Callable

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.table import Table

from appliance.errors import FetchError, ModelError
from appliance.models import catalogue
from appliance.models.catalogue import UNJUDGED, CatalogueModel, Form
from appliance.models.store import ModelStore
from appliance.settings import Settings
from appliance.voice.engine import store as engines

OK = 0
SOON = "A running box tries it within seconds, and offers it if it can synthesise a word."
ON_STICK = (
    "language",
    "voice",
)  # kinds that a box copies from there (system/usr/lib/interlude/stick)
DECLINED = 1
INTERRUPTED = 130  # as shells say for Ctrl-C


def cli_list(settings: Settings, console: Console | None = None) -> int:
    """Print every model: name, kind, size, licence, whether it is here, and, for a model that a
    USB stick may bring, its files' names."""
    console = console or Console()
    store = ModelStore.of(settings)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "kind", "size", "licence", "here", "about"):
        table.add_column(heading, justify="right" if heading == "size" else "left")
    for model in store.models.values():
        table.add_row(
            model.name, model.kind, _size(store, model), model.licence, _here(store, model),
            model.about,
        )  # fmt: skip
    console.print(table)
    from appliance.models.background_download import awaited_sentence

    if sentence := awaited_sentence(store):
        console.print(sentence, highlight=False)
    for model in store.models.values():
        if model.kind in ON_STICK and store.state(model) in ("missing", "partial"):
            files = ", ".join(file.name for file in model.files.values())
            console.print(f"On a USB stick {model.name} is: {files}", highlight=False)
    return OK


def cli_fetch(
    settings: Settings,
    name: str,
    form: Form | None = None,
    accept_licence: bool = False,
    *,
    endpoint: str | None = None,
    console: Console | None = None,
    ask: Callable[[str], str] | None = None,
    store: ModelStore | None = None,
) -> int:
    """Show the licence, ask for consent, and fetch the model.

    `form`: of the audio part of a language model, in place of the catalogue's. `ask`: asks for
    consent; None: the terminal does, if there is one. `store`: None: that of the settings.

    Raises InterludeError if the model is not here afterwards.
    """
    from appliance.models.fetcher import ModelFetcher  # the hub's library takes 1 s to import
    from appliance.models.hub import ModelHub

    console = console or Console()
    store = store or ModelStore.of(settings)
    model = catalogue.find(name, store.models)
    state = store.state(model)
    if form is not None and not any(file.part for file in model.files.values()):
        raise FetchError(f"{name} has no audio encoder whose precision can be chosen.")
    if state in ("shipped", "installed") and form in (None, store.form(model)):
        console.print(
            f"{name} is here already ({state}). `interlude models verify {name}` checks it."
        )
        return _ready(console, settings, store, model)
    _show(console, store, model)
    if form in UNJUDGED:
        console.print(f"  audio    {UNJUDGED[form]}", highlight=False)
    if not accept_licence and not _accepted(model, ask or _terminal()):
        console.print("Not fetched.")
        return DECLINED
    try:
        with _bars(console) as bars:
            ModelFetcher(store, ModelHub(endpoint), _Bars(bars)).fetch(model, form)
    except KeyboardInterrupt:
        console.print("Stopped. What has arrived is kept: fetch again to go on.")
        return INTERRUPTED
    console.print(f"{name} is here, every byte verified.")
    if model.kind == "voice":
        lacking = engines.lacking(settings.programs_path(), engines.PIPER)
        sentence = f"It cannot speak yet. {lacking} docs/voices.md says more." if lacking else SOON
        console.print(sentence, highlight=False)
    return _ready(console, settings, store, model)


def _ready(console: Console, settings: Settings, store: ModelStore, model: CatalogueModel) -> int:
    """Prepare a codec's decoder, which is done once, and print how to use a language model."""
    from appliance.models import codec_files  # imports numpy

    if model.kind == "language" and settings.thinking.model != model.name:
        console.print(
            f"The model in use is {settings.thinking.model}. To use this one, write "
            f"`thinking: {{model: {model.name}}}` into the settings file and restart the box.",
            highlight=False,
        )

    if store.hands_over or model.kind != codec_files.KIND:
        return OK  # on a box root has made a codec's decoder
    if codec_files.made(store, model.name) is None:
        console.print("Its decoder is being made, which takes a minute.", highlight=False)
        console.print(f"Made: {codec_files.prepare(store, model.name)}", highlight=False)
    return OK


def cli_verify(settings: Settings, name: str | None = None, console: Console | None = None) -> int:
    """Compare the checksums of one model, or of all that are here. Returns 66 if one is damaged."""
    console = console or Console()
    store = ModelStore.of(settings)
    if name is not None:
        models = [catalogue.find(name, store.models)]
    else:
        models = [m for m in store.models.values() if store.state(m) in ("shipped", "installed")]
    damaged = False
    for model in models:
        if not model.shipped and store.whole(model) is None:
            console.print(str(store.unusable(model)), highlight=False)
            damaged = True
            continue
        problems = store.damage(model)
        if problems:
            damaged = True
            _mark_damaged(store, model)
        unpinned = any(file.sha256 is None for file in model.files.values()) and model.shipped
        verdict = (
            "there; part of the package, not pinned here" if unpinned else "every byte as fetched"
        )
        console.print(f"{model.name}: {' '.join(problems) or verdict}", highlight=False)
        if problems and not model.shipped:
            console.print(f"  `interlude models fetch {model.name}` replaces what is wrong.")
    return ModelError.exit_code if damaged else OK


def _mark_damaged(store: ModelStore, model: CatalogueModel) -> None:
    """Let the next fetch replace what is wrong. On a box root compares the files for itself."""
    if model.shipped:
        return
    if store.hands_over:
        from appliance.models.placement import Placement

        Placement(store, model).ask_root()
    else:
        store.forget_whole(model)  # so that the next fetch checks every file again


def _show(console: Console, store: ModelStore, model: CatalogueModel) -> None:
    console.print(f"[bold]{model.name}[/]: {model.about}", highlight=False)
    source = model.repository or "a USB stick"
    console.print(f"  from     {source}, {_size(store, model)}", highlight=False)
    console.print(f"  licence  {model.licence} ({model.licence_url})", highlight=False)
    if model.note:
        console.print(f"  note     {model.note}", highlight=False)
    pinned = store.pinned(model)
    if pinned.revision is None or any(file.sha256 is None for file in pinned.files.values()):
        line = "this first fetch is trusted: its files are pinned, later ones must match"
        console.print(f"  pinning  {line}")


def _accepted(model: CatalogueModel, ask: Callable[[str], str] | None) -> bool:
    if ask is None:
        raise FetchError(
            f"The licence of {model.name} has not been accepted.",
            "Read it, then add --accept-licence.",
        )
    try:
        return ask("Fetch it under this licence? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _terminal() -> Callable[[str], str] | None:
    return input if sys.stdin.isatty() else None


def _size(store: ModelStore, model: CatalogueModel) -> str:
    size = store.pinned(model).size
    if model.shipped:
        paths = [store.path(model, file) for file in model.files.values()]
        size = sum(path.stat().st_size for path in paths if path.is_file())
    if size is None:
        return "?"
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def _here(store: ModelStore, model: CatalogueModel) -> str:
    form = store.form(model) if store.state(model) == "installed" else None
    return store.state(model) + (f", audio {form.upper()}" if form in UNJUDGED else "")


def _bars(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(),
        TimeRemainingColumn(), console=console,
    )  # fmt: skip


class _Bars:
    """Shows a progress bar for each file."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def start(self, name: str, done: int, total: int) -> None:
        self._tasks[name] = self._bars.add_task(name, completed=done, total=total)

    def advance(self, name: str, done: int) -> None:
        self._bars.update(self._tasks[name], completed=done)

    def report_problem(self, name: str, problem: str, wait_s: float) -> None:
        self._bars.console.print(f"{name}: {problem}; again in {wait_s:.0f} s", highlight=False)
