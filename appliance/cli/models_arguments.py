"""What an owner types of models: `interlude models …`. Each imports what it needs when called."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.cli.arguments import Verbs

if TYPE_CHECKING:
    from appliance.settings import Settings

SettingsOf = Callable[[argparse.Namespace], "Settings"]
_EXAMPLES = "examples:\n  interlude models fetch gemma-4-e2b\n  interlude models verify"


def models_verbs(verbs: Verbs, common: argparse.ArgumentParser, settings: SettingsOf) -> None:
    """All of them; they run as the user that fetches models. `settings`: those in effect."""

    def list_(args: argparse.Namespace) -> int:
        from appliance.cli import models as commands
        from appliance.cli import models_relay
        from appliance.models.store import ModelStore

        if args.json:
            return models_relay.cli_told(ModelStore.of(settings(args)))
        return commands.cli_list(settings(args))

    def fetch(args: argparse.Namespace) -> int:
        from appliance.cli import models as commands

        return commands.cli_fetch(settings(args), args.name, args.audio, args.accept_licence)

    def verify(args: argparse.Namespace) -> int:
        from appliance.cli import models as commands

        return commands.cli_verify(settings(args), args.name)

    def bring(args: argparse.Namespace) -> int:
        from appliance.cli import models as commands

        do = commands.cli_bring_voice if args.voice else commands.cli_bring
        return do(settings(args), args.folder)

    def announce(args: argparse.Namespace) -> int:
        from appliance.cli import models as commands

        return commands.cli_announce(settings(args))

    def give(args: argparse.Namespace) -> int:
        from appliance.cli import models_relay
        from appliance.models.store import ModelStore

        return models_relay.cli_give(
            ModelStore.of(settings(args)), args.name, args.file, args.at, args.most
        )

    def take(args: argparse.Namespace) -> int:
        from appliance.cli import models_relay
        from appliance.models.store import ModelStore

        return models_relay.cli_take(ModelStore.of(settings(args)), args.name, args.file, args.at)

    models = Verbs(
        verbs.add("models", "list, fetch and verify the models", more=_EXAMPLES), common, "model"
    )
    listed = models.add("list", "list the models: size, licence, and what of them is here", list_)
    listed.add_argument("--json", action="store_true", help="print it as JSON, file by file")
    fetched = models.add("fetch", "fetch a model; what has arrived already is kept", fetch)
    fetched.add_argument("name", metavar="NAME", help="of the model")
    fetched.add_argument(
        "--accept-licence", action="store_true", help="do not ask about its licence"
    )
    fetched.add_argument(
        "--audio", choices=["f16", "q8_0"], help="form of the encoder; nobody has judged q8_0 yet"
    )
    verified = models.add("verify", "read every byte again and compare checksums", verify)
    verified.add_argument("name", metavar="NAME", nargs="?", help="of a model; without it, all")
    brought = models.add("bring", "bring the model that this box awaits; for its services", bring)
    brought.add_argument("--voice", action="store_true", help="the voice that it awaits")
    brought.add_argument("--from", dest="folder", type=Path, metavar="DIR", help="not from the hub")
    models.add("announce", "say what came of it; for a service of the box", announce)

    given = models.add(
        "give", "print a piece of a model's file in base64; for a fleet's playbook", give
    )
    given.add_argument("name", metavar="NAME", help="of the model")
    given.add_argument("file", metavar="FILE", help="of the model, as `list --json` names it")
    given.add_argument("--at", type=_count, default=0, metavar="BYTES", help="where it begins")
    given.add_argument("--most", type=_count, required=True, metavar="BYTES", help="its length")
    taken = models.add(
        "take", "add what comes on stdin to a model's file, or put a whole model in place", take
    )
    taken.add_argument("name", metavar="NAME", help="of the model")
    taken.add_argument("file", metavar="FILE", nargs="?", help="without it, all of it has come")
    taken.add_argument("--at", type=_count, default=0, metavar="BYTES", help="how much is here")


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"`{text}` should be a number of bytes")
    return int(text)
