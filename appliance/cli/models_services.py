"""`interlude models bring|announce` and `interlude system accept`: for the services of a box.

The user that fetches runs `bring`, root `accept`, the box's own user `announce`.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

from appliance.errors import ControlError, ModelError
from appliance.models import catalogue, download_news
from appliance.models.catalogue import CatalogueModel
from appliance.models.store import VOICE_WANTED, WANTED, ModelStore
from appliance.settings import Settings
from appliance.voice.engine import store as engines

OK = 0
STARTS_S = 60.0  # a message is retried for so long, while the box may be starting


def cli_bring_voice(
    settings: Settings, stick: Path | None = None, request_file: Path = VOICE_WANTED
) -> int:
    """Fetch the requested voice, or copy it from `stick`. Makes no announcement, since the
    new voice will be heard."""
    from appliance.models.background_download import BackgroundDownload
    from appliance.models.fetcher import ModelFetcher
    from appliance.models.hub import ModelHub

    store = ModelStore.of(settings, request_file)
    engine = engines.engine(settings.programs_path(), engines.PIPER)
    if engine is not None and store.wanted() in engine.voices():
        print(f"{store.wanted()} is part of its program's package")
        return OK

    def fetch(model: CatalogueModel) -> None:
        ModelFetcher(store, ModelHub(), _Lines()).fetch(model)

    def report(news: download_news.DownloadNews) -> None:
        print(f"{news.model}: {news.kind}", flush=True)

    download = BackgroundDownload(store, fetch, report, time.sleep)
    if not (download.run() if stick is None else download.copy_from_stick(stick)):
        print("no voice is requested" if stick is None else "no file of a requested voice")
    return OK


def cli_bring(
    settings: Settings,
    stick: Path | None = None,
    folder: Path = download_news.FOLDER,
    request_file: Path = WANTED,
) -> int:
    """Fetch the requested model from the hub, or copy it from `stick`, or remove the one whose
    removal was requested.

    The services of a box run this, so it asks nothing: the licence was accepted with the request.
    It writes news for `cli_announce` to `folder`, if that exists.
    """
    from appliance.models.background_download import BackgroundDownload
    from appliance.models.fetcher import ModelFetcher
    from appliance.models.hub import ModelHub

    store = ModelStore.of(settings, request_file)
    if removed := store.unwanted():
        _remove(store, catalogue.find(removed, store.models))
        print(f"{removed}: removed", flush=True)
        return OK

    def fetch(model: CatalogueModel) -> None:
        ModelFetcher(store, ModelHub(), _Lines()).fetch(model)

    def report(news: download_news.DownloadNews) -> None:
        print(f"{news.model}: {news.kind}", flush=True)
        if folder.is_dir():
            try:
                download_news.write_news(news, folder)
            except OSError as error:  # the download goes on unannounced
                print(f"{folder}: {error.strerror}", file=sys.stderr, flush=True)

    download = BackgroundDownload(store, fetch, report, time.sleep)
    if not (download.run() if stick is None else download.copy_from_stick(stick)):
        print("no model is requested" if stick is None else "no file of a requested model")
    return OK


def _remove(store: ModelStore, model: CatalogueModel) -> None:
    """Remove a model; on a box root does so, by its own request file. Raises InterludeError."""
    from appliance.models.placement import Placement

    if not store.hands_over:
        store.remove(model)
        return
    with store.locked(model):
        Placement(store, model).ask_root()
        if store.state(model) == "installed":
            raise ModelError(
                f"{model.name} was not removed.", "See the journal of interlude-accept."
            )
        shutil.rmtree(store.dropped(model))


def cli_announce(settings: Settings, folder: Path = download_news.FOLDER) -> int:
    """Announce the news that `cli_bring` left in `folder`. A service of the box runs this as the
    box's own user."""
    from appliance.cli import tell
    from appliance.messages.commands import Restart, Say
    from appliance.messages.registry import Message
    from appliance.models.download_announcer import ModelAnnouncer
    from appliance.runtime import status

    def send(message: Message) -> None:
        limit_s = time.monotonic() + STARTS_S
        while True:
            try:
                tell.send_command(settings, message)
                return
            except ControlError as error:
                if time.monotonic() >= limit_s:
                    print(error.problem, file=sys.stderr)
                    return
                time.sleep(2.0)

    def is_talking() -> bool:
        now = status.read_status()
        return now is not None and now.talking

    memory = status.folder()
    if memory is None:
        raise ControlError("This is for a service: there is no RUNTIME_DIRECTORY.")
    announcer = ModelAnnouncer(
        ModelStore.of(settings), memory, lambda sentence: send(Say(sentence, chime=True)),
        is_talking, lambda: send(Restart()), time.sleep, time.monotonic,
        lambda: time.localtime().tm_hour, settings.own_language,
    )  # fmt: skip
    while (news := download_news.pop_news(folder)) is not None:
        outcome = "announced" if announcer.announce(news) else "not announced"
        print(f"{news.model}: {news.kind}, {outcome}")
    return OK


def cli_accept(settings: Settings, request_file: Path = WANTED) -> int:
    """Accept the models that were fetched, as root: verify them, and make them root's."""
    from appliance.models.acceptance import accept_all  # imports numpy, for codecs

    for line in accept_all(ModelStore.of(settings, request_file)):
        print(line, flush=True)
    return OK


class _Lines:
    """Prints a line for the log for each file and each problem."""

    def start(self, name: str, done: int, total: int) -> None:
        print(f"{name}: {done >> 20} of {total >> 20} MiB are here", flush=True)

    def advance(self, name: str, done: int) -> None:
        """Prints nothing: the page reads the progress from the disk."""

    def report_problem(self, name: str, problem: str, wait_s: float) -> None:
        print(f"{name}: {problem}; again in {wait_s:g} s", flush=True)
