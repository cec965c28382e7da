"""The command `interlude`: verbs only. Each imports what it needs when it is called."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from appliance import __version__
from appliance.errors import InterludeError

if TYPE_CHECKING:
    from appliance.settings import Settings

Verb = Callable[[argparse.Namespace], int]

CTRL_C = 128 + signal.SIGINT  # what a shell makes of a program that a signal ended
TERMINATED = 128 + signal.SIGTERM
BROKEN_PIPE = 128 + signal.SIGPIPE
NOT_INSTALLED = 69  # EX_UNAVAILABLE, sysexits(3)
SOFTWARE = 70  # EX_SOFTWARE
INPUT_OUTPUT = 74  # EX_IOERR


# ── verbs ────────────────────────────────────────────────────────────────────────────────────
def run(args: argparse.Namespace) -> int:
    """The box itself: runs until it is told to stop."""
    import setproctitle

    from appliance.log import set_up_logging
    from appliance.supervisor import Supervisor

    settings = _settings(args)
    set_up_logging(settings.log)
    setproctitle.setproctitle("interlude: supervisor")
    supervisor = Supervisor(settings)
    code = 0

    def stop(number: int, _: FrameType | None) -> None:
        nonlocal code
        code = CTRL_C if number == signal.SIGINT else 0
        supervisor.request_stop()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    supervisor.run()
    supervisor.close()
    return code


def demo(args: argparse.Namespace) -> int:
    from appliance.room import commands

    return commands.demo(args.report, _settings(args))


def rehearse(args: argparse.Namespace) -> int:
    from appliance.room import commands

    return commands.rehearse(args.scene, args.report, _settings(args))


def bench(args: argparse.Namespace) -> int:
    from appliance.room import commands

    return commands.bench(args.name, dict(args.option))


def check(args: argparse.Namespace) -> int:
    from appliance import health

    return health.cli(_settings(args), json=args.json)


def config(args: argparse.Namespace) -> int:
    from appliance import effective

    settings = _settings(args)
    print(effective.source(args.settings))
    print(effective.changes(settings) if args.changed else effective.whole(settings), end="")
    return 0


def models(args: argparse.Namespace) -> int:
    from appliance.models import commands

    act = {"list": commands.cli_list, "fetch": commands.cli_fetch, "verify": commands.cli_verify}
    return act[args.what](_settings(args), args.name)


def memory(args: argparse.Namespace) -> int:
    from appliance import memory_commands

    act = {"show": memory_commands.cli_show, "forget": memory_commands.cli_forget}
    return act[args.what](_settings(args))


def _settings(args: argparse.Namespace) -> Settings:
    """The settings in effect, the process table's included. Raises SettingsError."""
    from appliance import processes
    from appliance.settings import load

    settings = load(args.settings)
    processes.table(settings)
    return settings


# ── what may be typed ────────────────────────────────────────────────────────────────────────
def parser() -> argparse.ArgumentParser:
    """Everything that the command understands."""
    settings = argparse.ArgumentParser(add_help=False)
    settings.add_argument(
        "--settings", type=Path, metavar="FILE", default=argparse.SUPPRESS,
        help="use this settings file instead of the owner's",
    )  # fmt: skip
    top = _Parser(
        prog="interlude",
        description="A voice appliance that stops talking when you start.",
        epilog="examples:\n"
        "  interlude demo                 a whole conversation, in a simulated room\n"
        "  interlude check                is this machine fit, and what to do if not\n"
        "  interlude run                  the box itself, on this machine's sound card\n"
        "  interlude config --changed     the settings that are not the defaults\n"
        "\n`interlude VERB --help` says more about a verb.",
        parents=[settings],
    )
    top.add_argument("--version", action="version", version=f"interlude {__version__}")
    verbs = top.add_subparsers(title="verbs", metavar="VERB", required=True, dest="verb")

    def verb(name: str, act: Verb, summary: str, more: str = "") -> argparse.ArgumentParser:
        made = verbs.add_parser(
            name, help=summary, description=f"{summary[:1].upper()}{summary[1:]}.", epilog=more,
            parents=[settings],
        )  # fmt: skip
        made.set_defaults(act=act)
        return made

    verb("run", run, "run the box until it is told to stop",
         "Stops in order on Ctrl-C (exit code 130) and on SIGTERM (exit code 0).")  # fmt: skip

    room = verb("demo", demo, "play a conversation in a simulated room, and draw it")
    _report(room)

    room = verb(
        "rehearse", rehearse, "play scenes in a simulated room, and report what happened",
        "example:\n  interlude rehearse kitchen.yaml garden.yaml --report out",
    )  # fmt: skip
    room.add_argument("scene", type=Path, nargs="+", metavar="SCENE", help="a scene file (YAML)")
    _report(room)

    figures = verb(
        "bench", bench, "measure the figures of the README on this machine",
        "example:\n  interlude bench stop events=60",
    )  # fmt: skip
    figures.add_argument("name", nargs="?", default="", metavar="NAME",
                         help="which figure; without it, all of them")  # fmt: skip
    figures.add_argument("option", nargs="*", default=[], type=_option, metavar="KEY=VALUE",
                         help="how to measure it")  # fmt: skip

    health = verb(
        "check", check, "look whether this machine is fit, and say what to do if not",
        "Exit code: 0 when nothing keeps the box from working (warnings or not), 1 otherwise.",
    )  # fmt: skip
    health.add_argument("--json", action="store_true", help="print the findings as JSON")

    shown = verb(
        "config", config, "print the settings in effect, with their units and reasons",
        "What it prints can be used as a settings file; keep only the lines that you change.",
    )  # fmt: skip
    shown.add_argument("--changed", action="store_true", help="only what is not the default")

    files = verb(
        "models", models, "list, fetch and verify the models",
        "examples:\n  interlude models list\n  interlude models fetch gemma-4-e2b\n"
        "  interlude models verify",
    )  # fmt: skip
    files.add_argument("what", choices=("list", "fetch", "verify"))
    files.add_argument("name", nargs="*", metavar="NAME", help="of a model; without it, all")

    past = verb("memory", memory, "show or forget what was said")
    past.add_argument("what", choices=("show", "forget"))
    return top


def _report(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--report", type=Path, metavar="DIR",
                      help="write report.json, room.wav and timeline.png into it")  # fmt: skip


def _option(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise argparse.ArgumentTypeError(f"`{text}` should be KEY=VALUE")
    return key, value


class _Parser(argparse.ArgumentParser):
    """Keeps the lines of the examples as they are; its verbs are of this class too."""

    def __init__(self, **options: object) -> None:
        options["formatter_class"] = argparse.RawDescriptionHelpFormatter
        super().__init__(**options)  # type: ignore[arg-type]  # argparse's own, passed through


# ── how it ends ──────────────────────────────────────────────────────────────────────────────
def main(argv: Sequence[str] | None = None) -> int:
    """Do what the words say. Returns the exit code; what went wrong is one line on stderr."""
    args = parser().parse_args(argv, argparse.Namespace(settings=None))
    signal.signal(signal.SIGTERM, _terminated)
    act: Verb = args.act
    try:
        return act(args)
    except InterludeError as error:
        return _fails(str(error), error.exit_code)
    except KeyboardInterrupt:
        return CTRL_C
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return BROKEN_PIPE
    except ModuleNotFoundError as error:
        return _fails(f"`interlude {args.verb}` needs the Python package `{error.name}`, which is "
                      "not installed. `make setup` installs it.", NOT_INSTALLED)  # fmt: skip
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _fails(f"{where}{error.strerror or error}.", INPUT_OUTPUT)
    except Exception as error:  # noqa: BLE001  # the owner gets a sentence, whatever it is
        problem = f"a fault of its own: {type(error).__name__}: {error}."
        return _fails(f"{problem} Please report what INTERLUDE_TRACEBACK=1 shows.", SOFTWARE)


def _fails(sentence: str, code: int) -> int:
    if os.environ.get("INTERLUDE_TRACEBACK"):
        traceback.print_exc()
    print(f"interlude: {sentence}", file=sys.stderr)
    return code


def _terminated(*_: object) -> NoReturn:
    sys.exit(TERMINATED)  # through every `finally`, so that no process is left behind


if __name__ == "__main__":
    sys.exit(main())
