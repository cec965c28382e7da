"""`interlude system`: the commands for the system slots that owners, Ansible and the units run."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Callable
from pathlib import Path

from appliance.cli.report import format_report
from appliance.errors import ReleaseRefused
from appliance.settings import Settings
from appliance.update.release.installer import InstallOptions
from appliance.update.release.store import ReleaseStore
from appliance.update.system.block_device import BootDisk
from appliance.update.system.request import install_wanted
from appliance.update.system.slot import SLOTS
from appliance.update.system.slot_state import SlotStateFile
from appliance.update.system.target import PiTarget
from appliance.update.system.updater import SystemUpdater


def cli(args: argparse.Namespace, settings: Callable[[], Settings]) -> int:
    """Run the command that follows `interlude system`. Returns the exit code."""
    match args.doing:
        case "begin" | "grow" | "setup" | "page" | "improv":
            from appliance.cli import provision  # only units call these, at a boot

            return provision.cli(args.doing, settings)
        case "models" | "look" as command:
            from appliance.cli import requested_look, requested_model

            look = command == "look"
            return requested_look.cli_look() if look else requested_model.cli_request(settings)
        case "mdns" | "accept" as command:
            from appliance.cli import mdns, models_services

            run = {"mdns": lambda: mdns.cli(settings),
                   "accept": lambda: models_services.cli_accept(settings())}  # fmt: skip
            return run[command]()
        case "change" | "network" | "try-broker":
            from appliance.cli import requested_change

            return requested_change.cli(args.doing, settings)
        case "install":
            if args.wanted == (args.file is not None):
                raise ReleaseRefused("Name a .system file or give --wanted, but not both.")
            options = InstallOptions(args.downgrade, args.wait, start=not args.later)
            return cli_install(args.file, options)
        case "try":
            return cli_try(args.wait, downgrade=args.downgrade)
        case "settle":
            return cli_settle()
        case _:
            return cli_status(as_json=args.json)


def cli_install(file: Path | None, options: InstallOptions) -> int:
    """Write `file`, or the requested system, to the other slot. Prints one line at the end."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # continue if the terminal or ssh session closes
    if file is None:
        changed = install_wanted(_updater(), options)
    else:
        changed = _updater().install(file, options)
    if not changed:
        print("this system runs already")
    else:
        print("written; the machine starts it now" if options.start else "written, and not tried")
    return 0


def cli_try(wait_s: float, *, downgrade: bool) -> int:
    """Start the system in the other slot on trial: a newly written one, or the previous one."""
    print(f"the machine starts {_updater().begin_trial(wait_s, downgrade=downgrade)} now")
    return 0


def cli_settle() -> int:
    """Keep or leave a system on trial. A unit runs this at each boot."""
    if result := _updater().settle_trial():
        print(result)
    return 0


def cli_status(*, as_json: bool) -> int:
    report = slot_report(SlotStateFile(), PiTarget())
    print(format_report(report, as_json=as_json))
    return 0


def slot_report(slot_state: SlotStateFile, machine: PiTarget) -> dict[str, str | None]:
    """The state of the slots, as far as it can be read without root rights, ready for JSON."""
    trial, last = slot_state.trial(), slot_state.last()
    systems = {f"slot_{name}": slot_state.content(name) for name in SLOTS}
    return {
        "version": machine.version(),
        "slot": machine.slot(),
        **{name: content.version if content else None for name, content in systems.items()},
        "trial": trial.version if trial else None,
        "last": last.version if last else None,
        "problem": last.problem if last else "",
    }


def _updater() -> SystemUpdater:
    return SystemUpdater(BootDisk(), SlotStateFile(), PiTarget(), ReleaseStore())
