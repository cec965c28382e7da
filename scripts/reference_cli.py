"""Makes docs/reference/cli.md: every verb of `interlude` and its arguments, from its parser.

argparse's own help is not used, since its layout differs between versions of Python.
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
    """Every verb without sub-verbs, in order: its words and its parser."""
    choices = [
        action.choices
        for action in under._actions  # argparse has no public list of them
        if isinstance(action, argparse._SubParsersAction)
    ]
    if not choices and names:
        yield names, under
    for parsers in choices:
        for name, child in parsers.items():
            yield from verbs(child, (*names, name))


def arguments(verb: argparse.ArgumentParser) -> list[argparse.Action]:
    """The arguments of one verb, without those that every verb has and those that are hidden."""
    return [
        action
        for action in verb._actions
        if not set(action.option_strings) & set(_EVERYWHERE) and action.help != argparse.SUPPRESS
    ]


def written(action: argparse.Action) -> str:
    """An argument in the notation of usage lines: `--wait S`, `[FILE]`, `TEXT …`."""
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if action.option_strings:
        value = "" if action.nargs == 0 else f" {metavar}"
        return f"{'|'.join(action.option_strings)}{value}"
    return {"?": f"[{metavar}]", "*": f"[{metavar} …]", "+": f"{metavar} …"}.get(
        str(action.nargs), metavar
    )


def usage(names: tuple[str, ...], verb: argparse.ArgumentParser) -> str:
    """The usage line of a verb."""
    words = []
    for action in arguments(verb):
        optional = action.option_strings and not action.required
        words.append(f"[{written(action)}]" if optional else written(action))
    return " ".join(("interlude", *names, *words))


def page() -> str:
    """The page in Markdown: a section for each verb."""
    lines = [HEAD]
    for names, verb in verbs(parser()):
        lines += [f"## {' '.join(names)}", "", verb.description or "", ""]
        lines += ["```", usage(names, verb), "```", ""]
        described = [action for action in arguments(verb) if action.help]
        if described:
            lines += ["| argument | |", "|---|---|"]
            lines += [
                f"| `{written(action).replace('|', chr(92) + '|')}` | {_cell(action.help)} |"
                for action in described
            ]
            lines.append("")
        if verb.epilog:
            lines += ["```", verb.epilog, "```", ""] if ":\n" in verb.epilog else [verb.epilog, ""]
    return "\n".join(lines).rstrip() + "\n"


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|").replace("<", "&lt;")
