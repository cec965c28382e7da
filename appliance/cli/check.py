"""`interlude check`: checks whether the box can run on this machine, with a remedy for each fault.

In: the settings, a view of the machine, and probes of libraries and devices. Out: findings.
"""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from appliance.audio import device_checks
from appliance.audio.cards import CardInfo, list_cards
from appliance.audio.device_probe import DeviceProbe, try_card
from appliance.cli.machine_checks import landlock_finding, machine_findings
from appliance.cli.secret_checks import secret_findings
from appliance.errors import InterludeError, ModelError, ShownAs
from appliance.runtime import landlock, status
from appliance.runtime.diagnostics import (
    Finding,
    as_json,
    exit_code,
    ok,
    problem,
    show,
    told_by,
    warning,
)
from appliance.runtime.machine import Machine
from appliance.runtime.service_account import ServiceAccount
from appliance.settings import SYSTEM_FILE, CardSettings, Settings, ignored_file
from appliance.update.release import fallback


def language_model(
    settings: Settings, request_file: Path = Path("/etc/interlude/model-wanted")
) -> str:
    """Check the files of the language model. Returns a sentence. Raises InterludeError if they are
    missing or damaged and no other model can answer meanwhile."""
    from appliance.models.background_download import awaited_sentence
    from appliance.models.store import ModelStore

    store = ModelStore.of(settings, request_file)
    if store.wanted() == settings.thinking.model and (awaited := awaited_sentence(store)):
        return awaited
    model = store.language_model(settings.thinking.model)
    if damage := store.damage(store.models[model.name]):
        remedy = f"`interlude models verify {model.name}` deletes it, and `fetch` gets it again."
        raise InterludeError(damage[0], remedy)
    return f"{model.name} is here and undamaged."


def prompt(settings: Settings) -> Finding | None:
    """Compare our prompt with the model's own chat template; None if there is no model."""
    from appliance.models.store import ModelStore
    from appliance.think.template_check import PromptStyle, compare
    from appliance.think.vocabulary import template_of
    from appliance.tools.table import available

    try:
        model = ModelStore.of(settings).language_model(settings.thinking.model)
        template = template_of(model.text)
    except ModelError:
        return None  # `language_model` reports it
    comparison = compare(template, PromptStyle.of(model, settings.thinking, available(settings)))
    if comparison.same:
        return ok("prompt", comparison.sentence())
    remedy = "It still answers, perhaps worse than it could. `interlude models list` has others."
    return warning("prompt", comparison.sentence(), remedy)


def model_server(settings: Settings) -> Finding:
    """Send a second of sound to the owner's model server and check its answer."""
    from appliance.think.server_check import try_server

    return try_server(settings)


def voice(settings: Settings) -> list[Finding]:
    """Check the voices by synthesising a word, which is not played."""
    from appliance.cli import voice_checks as voice_fitness

    return voice_fitness.findings(settings)


def canceller(settings: Settings) -> str:
    """A sentence that says whether the settings use our echo canceller."""
    software = settings.hearing.echo.canceller not in ("none", "hardware")
    return ("The canceller is here: our own Kalman filter." if software
            else "No canceller, as the settings want: the card must do it.")  # fmt: skip


def turns(settings: Settings) -> Finding:
    """Which rule detects the end of the owner's turn, and why."""
    from appliance.hear.turn.turn_check import turn_finding

    return turn_finding(settings.hearing.turn)


def house(settings: Settings) -> str:
    """Connect to the MQTT broker. Returns a sentence. Raises LinkError if it cannot be used."""
    from appliance.mqtt import one_shot

    return one_shot.check(settings)


def panel(settings: Settings, machine: Machine) -> list[Finding]:
    """Check button, switch and light of the panel, if the settings name one."""
    from appliance.panel import checks as panel_fitness

    return panel_fitness.panel_findings(settings, machine)


def network() -> list[Finding]:
    """The box's address and name in its network, or why it is in none."""
    from appliance.provision import network_checks as network_fitness

    return list(network_fitness.network_findings())


@dataclass(frozen=True)
class CheckProbes:
    """The checks that need libraries, programs or devices. Tests pass replacements."""

    cards: Callable[[], list[CardInfo]] = list_cards
    try_card: Callable[[CardSettings], DeviceProbe] = try_card
    program: Callable[[str], str | None] = shutil.which
    canceller: Callable[[Settings], str] = canceller
    model: Callable[[Settings], str] = language_model
    prompt: Callable[[Settings], Finding | None] = prompt
    server: Callable[[Settings], Finding] = model_server
    voice: Callable[[Settings], list[Finding]] = voice
    turns: Callable[[Settings], Finding] = turns
    house: Callable[[Settings], str] = house
    panel: Callable[[Settings, Machine], list[Finding]] = panel
    network: Callable[[], list[Finding]] = network
    version: Callable[[str], str] = importlib.metadata.version
    fell_back: Callable[[], list[str]] = fallback.sentences
    ignored_file: Callable[[], Path | None] = ignored_file
    landlock: Callable[[], int] = landlock.abi


def cli(settings: Settings, *, json: bool) -> int:
    """Check this machine, print the findings, and return the exit code."""
    running = _running()
    machine = Machine(process=str(running.pid)) if running is not None else Machine()
    findings = list(collect_findings(settings, machine, CheckProbes(), running))
    if json:
        print(as_json(findings))
    else:
        show(findings, Console())
    return exit_code(findings)


def _running() -> status.SupervisorStatus | None:
    """The status of the box if it runs on this machine, else None.

    The limits of its supervisor count then, not those of the shell, and its sound card is in use.
    """
    running = status.read_status() if ServiceAccount().here() else None
    there = running is not None and Path(f"/proc/{running.pid}").exists()
    return running if there else None


def collect_findings(
    settings: Settings,
    machine: Machine,
    probes: CheckProbes,
    running: status.SupervisorStatus | None = None,
) -> Iterator[Finding]:
    """Yield every finding. The sound card comes last, since its check opens it for some seconds;
    the card of a box that is `running` is not opened."""
    yield from _software(probes)
    yield from machine_findings(settings, machine)
    yield landlock_finding(probes.landlock)
    yield from secret_findings(settings)
    if (file := probes.ignored_file()) is not None:
        remedy = f"Move what you need of it to {SYSTEM_FILE}, and delete it."
        sentence = f"{file} is ignored: only {SYSTEM_FILE} counts on a box."
        yield warning("settings", sentence, remedy, ShownAs.of("page-find-settings-ignored"))
    for sentence in probes.fell_back():
        remedy = "`journalctl -u interlude` and /var/log/interlude/warnings.log say why."
        yield warning("release", sentence, remedy, ShownAs.of("page-find-release-left"))
    if settings.thinking.remote.url:
        yield probes.server(settings)
    else:
        yield told_by("model", lambda: probes.model(settings))
        if (prompt_finding := probes.prompt(settings)) is not None:
            yield prompt_finding
    yield from probes.voice(settings)
    if probes.program("espeak-ng") is None:
        yield warning(
            "voice",
            "espeak-ng is not installed: nothing replaces a voice that fails.",
            "Install the package espeak-ng.",
            ShownAs.of("page-find-no-espeak"),
        )
    own = settings.hearing.echo.canceller not in ("none", "hardware")
    key = "page-find-echo" if own else "page-find-echo-none"
    yield told_by("echo", lambda: probes.canceller(settings), ShownAs.of(key))
    yield probes.turns(settings)
    yield from probes.network()
    if settings.link.broker:
        yield told_by("house", lambda: probes.house(settings))
    yield from probes.panel(settings, machine)
    failed = running.failed if running is not None else None
    card = settings.card
    yield from device_checks.card_findings(card, machine, probes.cards(), probes.try_card, failed)


def _software(probes: CheckProbes) -> Iterator[Finding]:
    versions = [f"Python {platform.python_version()} on {platform.machine()}"]
    for package in ("interlude", "llama-cpp-python", "onnxruntime"):
        try:
            versions.append(f"{package} {probes.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            shown = ShownAs.of("page-find-software-lacks", package=package)
            problem_text = f"{package} is not installed."
            yield problem("software", problem_text, "Run `make setup`.", shown)
    if sys.maxsize < 2**32:
        shown = ShownAs.of("page-find-software-32")
        problem_text = "This system has 32 bits."
        yield problem("software", problem_text, "Install its 64-bit edition.", shown)
    version_list = ", ".join(versions)
    yield ok("software", f"{version_list}.", ShownAs.of("page-find-software", listed=version_list))
