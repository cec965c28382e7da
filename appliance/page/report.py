"""Makes the text of a bug report: state of the box, figures, settings and warnings.

It contains no secrets and no spoken or written text: of the settings only numbers, switches and
names from a list; of the warnings, names and addresses of this house are left out. It is shown
before it is saved, and never sent. Pure, except for `read_tail`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from appliance.language.catalogue import english
from appliance.settings import Settings, changed
from appliance.settings.settings_change import value_of

WARNINGS = Path("/var/log/interlude/warnings.log")  # of interlude-warnings.service
TAIL_BYTES = 32_768
MOST_LINE = 300  # characters shown
LONGEST_LINE = 4000  # characters; a longer line is left out, as redacting a part may miss a name
LEFT_OUT = "(left out)"
# Settings whose text is not private: one of a list, or a model's name.
NAMES = frozenset({
    "mode", "language", "log", "thinking.model", "thinking.audio_encoder", "speaking.voice",
    "panel.gpio", "panel.light", "page.enabled",
})  # fmt: skip
_PRIVATE = (
    re.compile(r"\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b", re.IGNORECASE),  # of a network card
    re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}\b"),
    re.compile(r"(?<![\w:])[0-9a-f:]*::[0-9a-f:]+", re.IGNORECASE),
    re.compile(r"(?<![\w:])(?:[0-9a-f]{1,4}:){5,7}[0-9a-f]{1,4}\b", re.IGNORECASE),
    re.compile(r"\b[\w.+-]+@[\w.-]+\b"),
    re.compile(r"\b\w+://\S+"),
    re.compile(r"""(?i)(?<=ssid[ =:])(?:"(?:\\.|[^"\\])*"?|'[^']*'?|[^'",]+)"""),
    # Quoted text, such as the name of a Wi-Fi or a user. An apostrophe within a word is not a
    # quote. A quote that is not closed at the end of the line may have been truncated.
    re.compile(r"""(?<!\w)[bru]{0,2}'.*?(?:'(?!\w)|$)"""),
    re.compile(r"""(?<!\w)[‘“„«].*?(?:[’“”»](?!\w)|$)"""),
    re.compile(r'"[^"]*(?:"|$)'),
)


def text(
    state: Mapping[str, object], files: Settings, warnings: Iterable[str], house: Iterable[str]
) -> str:
    """The complete report. `state`: state of the box. `house`: names to leave out of warnings."""
    lines = [
        "Interlude: a report of a box",
        "",
        *(f"{key}: {item}" for key, item in state.items()),
    ]
    lines += ["", "Settings that are not the default:", *settings_lines(files)]
    lines += ["", "Warnings, the newest last:", *(redacted(line, house) for line in warnings)]
    return "\n".join(lines) + "\n"


def settings_lines(files: Settings) -> list[str]:
    """A line for each changed setting, without text written by the owner."""
    found = []
    for key in sorted(changed(files)):
        try:
            value = value_of(files, key)
        except (AttributeError, AssertionError):
            value = ""  # a list, or rows with names of the owner's
        shown = value if isinstance(value, bool | int | float) or key in NAMES else LEFT_OUT
        found.append(f"{key}: {shown}")
    return found or ["none"]


def redacted(line: str, house: Iterable[str]) -> str:
    """Remove addresses, quoted text and the names of this house from a line of the log."""
    if len(line) > LONGEST_LINE:
        return LEFT_OUT
    line = _without_wifi(line)
    for pattern in _PRIVATE:
        line = pattern.sub(LEFT_OUT, line)
    for name in house:
        if len(name) > 2:
            line = re.sub(re.escape(name), LEFT_OUT, line, flags=re.IGNORECASE)
    return line[:MOST_LINE]


def _without_wifi(line: str) -> str:
    """Remove the Wi-Fi's name from the box's own sentences. These do not quote it, since they are
    also spoken (provision/wifi_errors.py)."""
    for template in english().templates("wifi-").values():
        before, named, after = template.partition("{wifi}")
        begin, end = line.find(before) + len(before), line.rfind(after)
        if named and len(before) <= begin <= end:
            line = line[:begin] + LEFT_OUT + line[end:]
    return line


def read_tail(file: Path = WARNINGS) -> list[str] | None:
    """The last complete lines of the log; None if it cannot be read."""
    try:
        with file.open("rb") as source:
            begins = max(0, source.seek(0, 2) - TAIL_BYTES)
            source.seek(begins)
            lines = source.read(TAIL_BYTES).decode("utf-8", "replace").split("\n")
    except OSError:
        return None
    return [line for line in lines[1 if begins else 0 :] if line.strip()]
