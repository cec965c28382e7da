"""The arguments of `interlude models`. Each verb imports the code that it needs when called."""

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
    """Add `models` and its verbs, which run as the user that fetches models.

    `settings`: returns the settings in effect.
    """

    def list_(args: argparse.Namespace) -> int:
        from appliance.cli import models as commands
        from appliance.cli import models_relay
        from appliance.models.store import ModelStore

        if args.json:
            return models_relay.cli_list_json(ModelStore.of(settings(args)))
        return commands.cli_list(settings(args))

    def fetch(args: argparse.Namespace) -> int:
        from appliance.cli import models as commands

        return commands.cli_fetch(settings(args), args.name, args.audio, args.accept_licence)

    def verify(args: argparse.Namespace) -> int:
        from appliance.cli import models as commands

        return commands.cli_verify(settings(args), args.name)

    def bring(args: argparse.Namespace) -> int:
        from appliance.cli import models_services as commands

        do = commands.cli_bring_voice if args.voice else commands.cli_bring
        return do(settings(args), args.folder)

    def announce(args: argparse.Namespace) -> int:
        from appliance.cli import models_services as commands

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
    list_command = models.add(
        "list", "list the models: size, licence, and whether they are installed", list_
    )
    list_command.add_argument("--json", action="store_true", help="print every file as JSON")
    fetch_command = models.add("fetch", "fetch a model; continues an interrupted download", fetch)
    fetch_command.add_argument("name", metavar="NAME", help="name of the model")
    fetch_command.add_argument(
        "--accept-licence", action="store_true", help="accept its licence without being asked"
    )
    fetch_command.add_argument(
        "--audio",
        choices=["f16", "q8_0"],
        help="precision of the audio encoder; the quality of q8_0 has not been measured",
    )
    verify_command = models.add("verify", "read every byte again and compare checksums", verify)
    verify_command.add_argument(
        "name", metavar="NAME", nargs="?", help="name of a model; default: all"
    )
    bring_command = models.add(
        "bring", "install the model that was requested; for the services of a box", bring
    )
    bring_command.add_argument("--voice", action="store_true", help="install the requested voice")
    bring_command.add_argument(
        "--from", dest="folder", type=Path, metavar="DIR", help="copy from DIR in place of the hub"
    )
    models.add("announce", "announce the outcome of `bring`; for a service of the box", announce)

    give_command = models.add(
        "give", "print part of a model's file in base64; for a fleet's playbook", give
    )
    give_command.add_argument("name", metavar="NAME", help="name of the model")
    give_command.add_argument(
        "file", metavar="FILE", help="name of the file, as `list --json` prints it"
    )
    give_command.add_argument(
        "--at", type=_count, default=0, metavar="BYTES", help="offset of the first byte"
    )
    give_command.add_argument(
        "--most", type=_count, required=True, metavar="BYTES", help="most bytes to print"
    )
    take_command = models.add(
        "take", "append stdin to a model's file, or install a model whose files are complete", take
    )
    take_command.add_argument("name", metavar="NAME", help="name of the model")
    take_command.add_argument(
        "file", metavar="FILE", nargs="?", help="name of the file; without it, install the model"
    )
    take_command.add_argument(
        "--at", type=_count, default=0, metavar="BYTES", help="bytes that are here already"
    )


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"`{text}` should be a number of bytes")
    return int(text)
