"""docs/reference/cli.md: every verb of `interlude` and its arguments, read off its parser.

The layout of argparse's own help differs between versions of Python; it is not used here.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from appliance.__main__ import parser

HEAD = """# Command line

Every verb of `interlude` with its arguments, made by `python -m scripts.reference`. Each verb takes
`--settings FILE`, too: use this settings file instead of the owner's. `interlude --version` prints
the version. `demo`, `rehearse` and `bench` belong to the lab: they work in a checkout.
"""
_EVERYWHERE = ("-h", "--help", "--settings", "--version")


def verbs(
    under: argparse.ArgumentParser, names: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """Every verb that does something by itself: its words, and its parser. In their order."""
    choices = [
        action.choices
        for action in under._actions  # argparse has no public list of them
        if isinstance(action, argparse._SubParsersAction)
    ]
    if not choices and names:
        yield names, under
    for each in choices:
        for name, child in each.items():
            yield from verbs(child, (*names, name))


def arguments(verb: argparse.ArgumentParser) -> list[argparse.Action]:
    """Those of one verb: neither those that every verb has nor those that are not shown."""
    return [
        action
        for action in verb._actions
        if not set(action.option_strings) & set(_EVERYWHERE) and action.help != argparse.SUPPRESS
    ]


def written(action: argparse.Action) -> str:
    """An argument as it is typed: `--wait S`, `[FILE]`, `TEXT …`."""
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if action.option_strings:
        value = "" if action.nargs == 0 else f" {metavar}"
        return f"{'|'.join(action.option_strings)}{value}"
    return {"?": f"[{metavar}]", "*": f"[{metavar} …]", "+": f"{metavar} …"}.get(
        str(action.nargs), metavar
    )


def usage(names: tuple[str, ...], verb: argparse.ArgumentParser) -> str:
    """One line: the verb with all that may follow."""
    words = []
    for action in arguments(verb):
        optional = action.option_strings and not action.required
        words.append(f"[{written(action)}]" if optional else written(action))
    return " ".join(("interlude", *names, *words))


def page() -> str:
    """The whole page, in Markdown: a section for each verb."""
    lines = [HEAD]
    for names, verb in verbs(parser()):
        lines += [f"## {' '.join(names)}", "", verb.description or "", ""]
        lines += ["```", usage(names, verb), "```", ""]
        told = [action for action in arguments(verb) if action.help]
        if told:
            lines += ["| argument | |", "|---|---|"]
            lines += [
                f"| `{written(action).replace('|', chr(92) + '|')}` | {_cell(action.help)} |"
                for action in told
            ]
            lines.append("")
        if verb.epilog:
            lines += ["```", verb.epilog, "```", ""] if ":\n" in verb.epilog else [verb.epilog, ""]
    return "\n".join(lines).rstrip() + "\n"


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|").replace("<", "&lt;")
