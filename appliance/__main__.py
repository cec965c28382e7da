"""The command `interlude` and its verbs. Each verb imports its modules when it is called."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from appliance import __version__
from appliance.cli import signals
from appliance.cli.arguments import (
    Verb,
    Verbs,
    enrol_verb,
    lab_verbs,
    release_verbs,
    system_verbs,
    told_verbs,
    voice_verbs,
)
from appliance.cli.models_arguments import models_verbs
from appliance.errors import InterludeError
from appliance.runtime.service_account import ServiceAccount

if TYPE_CHECKING:
    from appliance.settings import Settings

CTRL_C = 128 + signal.SIGINT  # a shell's exit code for a program that a signal ended
BROKEN_PIPE = 128 + signal.SIGPIPE
NOT_INSTALLED = 69  # EX_UNAVAILABLE, sysexits(3)
SOFTWARE = 70  # EX_SOFTWARE
INPUT_OUTPUT = 74  # EX_IOERR


def run(args: argparse.Namespace) -> int:
    """Run the box until SIGTERM or SIGINT. After the message Restart it stops all parts, and
    Restart=always in its unit starts it again; without systemd the process re-executes itself."""
    import setproctitle

    from appliance.cli import restore, startup_settings
    from appliance.cli.rows import rows_to_run
    from appliance.runtime import factory_reset, part_folders
    from appliance.runtime.log import set_up_logging
    from appliance.runtime.status import folder as memory_folder
    from appliance.runtime.supervision import failure_rate, single_instance
    from appliance.runtime.supervisor import Supervisor
    from appliance.settings.adjusted import adjusted

    found = startup_settings.settings_for_start(args.settings)
    settings = startup_settings.with_page(found.settings) if args.page else found.settings
    set_up_logging(settings.log)
    digits = startup_settings.hand_over_digits(os.environ) if args.page else ""
    startup_settings.report_page(settings, digits)
    startup_settings.hand_over_file(args.settings, os.environ)
    setproctitle.setproctitle("interlude: supervisor")
    single_instance.lock_instance(settings.state_path())
    for folder in filter(None, (settings.state_path(), memory_folder())):
        part_folders.move_earlier_files(folder)
    factory_reset.complete_reset(settings.state_path())  # before any part has a file open
    restore.complete_restore(settings)
    startup_settings.report_problem(found)
    supervisor = Supervisor(settings, rows=rows_to_run(adjusted(settings)))
    code = 0
    asked_to_stop = False

    def stop(number: int, _: FrameType | None) -> None:
        nonlocal code, asked_to_stop
        asked_to_stop = True
        code = CTRL_C if number == signal.SIGINT else 0
        supervisor.request_stop()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    supervisor.run()
    supervisor.close()
    if supervisor.given_up and not asked_to_stop:
        return failure_rate.EXIT_CODE
    if supervisor.restarting and not asked_to_stop and not supervisor.service.managed:
        os.execv(sys.executable, [sys.executable, "-m", "appliance", *sys.argv[1:]])  # noqa: S606  # the same command again
    return code


def check(args: argparse.Namespace) -> int:
    from appliance.cli import check as health
    from appliance.panel import auto_detection

    return health.cli(auto_detection.resolve_auto(_settings(args)), json=args.json)


def config(args: argparse.Namespace) -> int:
    from appliance.cli import config as effective
    from appliance.settings import adjusted

    files = _settings(args)
    settings, outside = adjusted.adjusted(files), adjusted.names(files)
    print(effective.source(args.settings))
    printed = effective.changes if args.changed else effective.whole
    print(printed(settings, outside), end="")
    return 0


def enrolled(args: argparse.Namespace) -> int:
    from appliance.cli import enrol

    if args.forget:
        return enrol.cli_forget(_settings(args))
    return enrol.cli_enrol(_settings(args), folder=args.folder, keep=args.keep, takes=args.takes)


def panel(args: argparse.Namespace) -> int:
    from appliance.cli import panel as keys

    return keys.cli_panel(_settings(args))


def light(args: argparse.Namespace) -> int:
    from appliance.panel import early
    from appliance.runtime.log import set_up_logging

    set_up_logging("info")
    return early.cli(args.settings)


def memory_show(args: argparse.Namespace) -> int:
    from appliance.cli import memory as memory_commands

    return memory_commands.cli_show(_settings(args))


def memory_forget(args: argparse.Namespace) -> int:
    from appliance.cli import memory as memory_commands

    return memory_commands.cli_forget(_settings(args))


def tell(args: argparse.Namespace) -> int:
    """Send a command to the box that runs on this machine."""
    from appliance.cli import tell as control_commands

    return control_commands.cli(_settings(args), args.verb, args.words)


def link_remove(args: argparse.Namespace) -> int:
    from appliance.mqtt import one_shot

    return one_shot.cli_remove(_settings(args))


def link_add(args: argparse.Namespace) -> int:
    from appliance.mqtt import one_shot

    return one_shot.cli_add(_settings(args))


def status(args: argparse.Namespace) -> int:
    from appliance.cli import status as status_commands
    from appliance.settings import load

    return status_commands.cli(load(args.settings), as_json=args.json)


def release(args: argparse.Namespace) -> int:
    from appliance.cli import release as commands

    return commands.cli(args, lambda: _settings(args))


def voices(args: argparse.Namespace) -> int:
    from appliance.cli import voices as commands

    return commands.cli(args, lambda: _settings(args))


def system(args: argparse.Namespace) -> int:
    from appliance.cli import system as commands
    from appliance.settings import load

    return commands.cli(args, lambda: load(args.settings))


def _settings(args: argparse.Namespace) -> Settings:
    """Load the settings, and check their changes to the process table. Raises SettingsError."""
    from appliance.cli.rows import rows_to_run
    from appliance.settings import load

    settings = load(args.settings)
    rows_to_run(settings)
    return settings


EXAMPLES = """examples:
  interlude demo                 a whole conversation, in a simulated room
  interlude check                can this machine run the box, and what to do if not
  interlude run                  the box itself, on this machine's sound card
  interlude config --changed     the settings that are not the defaults

`interlude VERB --help` says more about a verb."""


def parser() -> argparse.ArgumentParser:
    """The argument parser with all verbs."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--settings",
        type=Path,
        metavar="FILE",
        default=argparse.SUPPRESS,
        help="use this settings file instead of the owner's",
    )
    top = argparse.ArgumentParser(
        prog="interlude",
        description="A voice appliance that stops talking when you start.",
        epilog=EXAMPLES,
        parents=[common],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"interlude {__version__}")
    verbs = Verbs(top, common)

    ends = "Stops in order on Ctrl-C (exit code 130) and on SIGTERM (exit code 0)."
    box = verbs.add("run", "run the box until it is stopped", run, ends)
    box.add_argument("--page", action="store_true", help="serve the page: print its address and "
                     "the digits that let a first browser in")  # fmt: skip
    lab_verbs(verbs, _settings)
    told_verbs(verbs, tell)

    fit = "Exit code: 0 if nothing keeps the box from working (there may be warnings), else 1."
    checked = verbs.add(
        "check", "check whether this machine can run the box, and say what to do if not", check, fit
    )
    checked.add_argument("--json", action="store_true", help="print the findings as JSON")

    standing = verbs.add(
        "status", "show the state of the box that runs on this machine", status, runs_as="caller"
    )
    standing.add_argument("--json", action="store_true", help="print it as JSON")

    usable = "What it prints can be used as a settings file; keep only the lines that you change."
    shown = verbs.add(
        "config", "print the settings in effect, with their units and reasons", config, usable,
        runs_as="caller",
    )  # fmt: skip
    shown.add_argument(
        "--changed", action="store_true", help="only the settings that differ from the defaults"
    )

    models_verbs(verbs, common, _settings)
    enrol_verb(verbs, enrolled)
    verbs.add(
        "panel", "use the keyboard as button and mute switch, and the terminal as light", panel
    )
    verbs.add(
        "light", "drive the light until the box's own panel starts; for a service of the box", light
    )

    memory = Verbs(verbs.add("memory", "show or forget the conversations"), common)
    memory.add("show", "show the remembered turns and what was heard of each answer", memory_show)
    memory.add("forget", "forget every remembered turn", memory_forget)

    link = Verbs(verbs.add("link", "remove the box from Home Assistant, or add it again"), common)
    link.add("remove", "remove the box from Home Assistant until `link add`", link_remove)
    link.add("add", "add the box to Home Assistant again", link_add)
    release_verbs(verbs, common, release)
    system_verbs(verbs, common, system)
    voice_verbs(verbs, common, voices)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run the verb that `argv` names. Returns the exit code; an error is one line on stderr."""
    args = parser().parse_args(argv, argparse.Namespace(settings=None))
    act: Verb = args.act
    try:
        with signals.raised():
            ServiceAccount().enter(
                args.runs_as, [file for file in vars(args).values() if isinstance(file, Path)]
            )
            return act(args)
    except InterludeError as error:
        return _fails(str(error), error.exit_code)
    except KeyboardInterrupt:
        return CTRL_C
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return BROKEN_PIPE
    except ModuleNotFoundError as error:
        problem = f"The Python package `{error.name}` is not installed."
        return _fails(f"{problem} `make setup` installs it.", NOT_INSTALLED)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _fails(f"{where}{error.strerror or error}.", INPUT_OUTPUT)
    except Exception as error:  # noqa: BLE001  # the owner gets a sentence for any error
        problem = f"a fault of its own: {type(error).__name__}: {error}."
        return _fails(f"{problem} Please report what INTERLUDE_TRACEBACK=1 shows.", SOFTWARE)


def _fails(sentence: str, code: int) -> int:
    if os.environ.get("INTERLUDE_TRACEBACK"):
        traceback.print_exc()
    print(f"interlude: {sentence}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
