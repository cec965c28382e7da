"""`interlude release`: the commands for releases that owners, Ansible and the units run."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from appliance.cli.report import format_report
from appliance.errors import ReleaseRefused
from appliance.language.catalogue import english
from appliance.runtime import status
from appliance.settings import Settings
from appliance.update import request
from appliance.update.progress import Progress
from appliance.update.release import fallback
from appliance.update.release.installer import InstallOptions, ReleaseInstaller
from appliance.update.release.look_record import LookReporter, note_success
from appliance.update.release.rejected import is_newer
from appliance.update.release.store import ReleaseStore
from appliance.update.release.target import EMULATED_S, TRY_OUT_S, SystemdTarget


def cli(args: argparse.Namespace, settings: Callable[[], Settings]) -> int:
    """Run the command that follows `interlude release`. Returns the exit code."""
    match args.doing:
        case "install":
            options = InstallOptions(
                downgrade=args.downgrade, wait_s=args.wait, start=not args.cold
            )
            if args.wanted == (args.file is not None):
                raise ReleaseRefused("Name a .release file or give --wanted, but not both.")
            return cli_install(args.file, options)
        case "rollback":
            return cli_rollback(InstallOptions(args.downgrade, args.wait))
        case "ask":
            return cli_ask(args.version)
        case "pull":
            return cli_pull(args.address)
        case "bring":
            return cli_bring(args.folder)
        case "list":
            return cli_list()
        case "status":
            return cli_status(as_json=args.json)
        case _:
            return cli_selftest(settings())


def cli_install(file: Path | None, options: InstallOptions) -> int:
    """Install `file`; if it is None, the requested release. Prints one line at the end."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # continue if the terminal or ssh session closes
    # --cold is used in a card's root file system, often under emulation, hence the longer limit.
    target = SystemdTarget(selftest_s=TRY_OUT_S if options.start else EMULATED_S)
    installer = ReleaseInstaller(ReleaseStore(), target, progress=_shown())
    began = time.monotonic()
    if file is None:
        changed = request.install_wanted(installer, options)
    else:
        changed = installer.install(file, options)
    kept = installer.store.kept()
    took_s = time.monotonic() - began
    print(f"installed {kept} in {took_s:.1f} s" if changed else f"{kept} is installed already")
    _print_warnings(installer.store)
    return 0


def cli_rollback(options: InstallOptions) -> int:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    store = ReleaseStore()
    version = ReleaseInstaller(store, SystemdTarget(), progress=_shown()).rollback(options)
    print(f"went back to {version}")
    _print_warnings(store)
    return 0


def _print_warnings(store: ReleaseStore) -> None:
    """Print what is wrong with the kept release although it was installed, as root forced it."""
    kept, security = store.kept() or "", store.security()
    if is_newer(security.least_version, kept):
        least = security.least_version
        print(f"warning: {kept} is older than {least}, which a security update requires")
    for sentence in fallback.sentences(store):
        print(f"warning: {sentence}")


def cli_ask(version: str | None = None) -> int:
    """Request the newest offer, or that of `version`. Returns at once: the update service, which
    runs as root, installs it."""
    ready = [offer for offer in request.offers() if version in (None, offer.version)]
    if not ready:
        print("no newer version is ready to install")
        return 0
    request.request_install(ready[0])
    print(f"asked for {ready[0].version}")
    return 0


def cli_pull(address: str | None, incoming: Path = request.INCOMING) -> int:
    """Fetch the release that the fleet's sheet names, and request it. The update service installs
    it."""
    from appliance.update.release.fleet_pull import pull

    address = address or os.environ.get("PULL_URL")
    if not address:
        raise ReleaseRefused("Name the address of the fleet's sheet, or set PULL_URL.")
    with LookReporter("web").looking() as reporter:
        found = pull(address, incoming=incoming, fetches=reporter.fetches)
        note_success(incoming)
        reporter.over(found)
    print(found.text(english()))
    return 0


def cli_bring(folder: Path) -> int:
    """Copy newer, signed archives from a stick to the incoming folder, without requesting one."""
    from appliance.update.stick_import import bring

    with LookReporter("stick").looking() as reporter:
        found = bring(folder, reporter)
        reporter.over(found)
    print(found.text(english()))
    return 0


def cli_list() -> int:
    """Print one line for each installed release, newest first, with its role."""
    store = ReleaseStore()
    roles = {store.previous(): "the one before", store.kept(): "kept", store.on_trial(): "on trial"}
    for manifest in store.installed():
        made = time.strftime("%Y-%m-%d", time.gmtime(manifest.made_s))
        print(f"{manifest.version:12} made {made}  {roles.get(manifest.version, '')}".rstrip())
    return 0


def cli_status(*, as_json: bool) -> int:
    """Print the kept, the running and the offered releases, and an installation's progress."""
    found = release_report(ReleaseStore())
    print(format_report(found, as_json=as_json))
    return 0


def cli_selftest(settings: Settings) -> int:
    # Imported here: these modules import every part of the box, which no other command needs.
    from appliance.cli.rows import rows_to_run
    from appliance.update.release import selftest

    count = selftest.import_parts(settings, rows_to_run(settings))
    print(f"{count} parts could be loaded")
    return 0


def release_report(store: ReleaseStore, incoming: Path = request.INCOMING) -> dict[str, object]:
    """The state of a box's releases as strings and lists, ready for JSON."""
    now = status.read_status()
    going = request.read_progress(store.trial_folder)
    return {
        "kept": store.kept(),
        "running": now.version if now else None,
        "state": now.state if now else None,
        "well": now.well if now else False,
        "failed": list(now.failed) if now else [],
        "trial": store.on_trial(),
        "previous": store.previous(),
        "left": fallback.left(store) or None,
        "installed": [manifest.version for manifest in store.installed()],
        "offers": [offer.version for offer in request.offers(store, incoming)],
        "asked": os.path.lexists(incoming / request.WANTED),
        "step": going.step,
        "problem": going.problem,
    }


@dataclass
class _Line:
    """A progress line on a terminal, rewritten in place. `last`: the step and percent shown."""

    last: tuple[str, int] = ("", -1)

    def show(self, step: str, share: float) -> None:
        now = (step, int(100 * share))
        if now != self.last:
            end = "\n" if share >= 1.0 and step == "kept" else ""
            print(f"\r\033[K{step} {now[1]} %", end=end, file=sys.stderr, flush=True)
        self.last = now


def _shown() -> Progress:
    if sys.stderr.isatty():
        return _Line().show
    steps: list[str] = []

    def report(step: str, _share: float) -> None:
        if not steps or steps[-1] != step:
            steps.append(step)
            print(step, file=sys.stderr, flush=True)

    return report
