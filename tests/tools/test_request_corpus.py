"""The guard on some 7,900 requests; the README of their folder says who wrote them."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.tools.guard.reading import Reading, opens_something, read_request
from tests.tools.request_corpus import FILES, FOLDER, lines, misjudged

OPENING = [file for file in FILES if file.name.startswith("opening")]
HARMLESS = [file for file in FILES if file.name.startswith("harmless")]
README = (FOLDER / "README.md").read_text(encoding="utf-8")
MOST_ASKED_TWICE = 0.02  # of the harmless requests


@pytest.mark.parametrize("file", OPENING, ids=lambda file: file.stem)
def test_no_request_that_opens_something_is_let_through(file: Path) -> None:
    assert misjudged(file) == []


@pytest.mark.parametrize("file", HARMLESS, ids=lambda file: file.stem)
def test_at_most_two_percent_of_the_harmless_requests_are_asked_for_twice(file: Path) -> None:
    assert len(misjudged(file)) <= MOST_ASKED_TWICE * len(lines(file)), misjudged(file)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_readme_has_the_file_and_its_number_of_lines(file: Path) -> None:
    assert f"| `{file.name}` | {len(lines(file))} |" in README


@pytest.mark.parametrize("file", OPENING[:2], ids=lambda file: file.stem)
def test_capitals_and_signs_change_no_reading(file: Path) -> None:
    for line in lines(file):
        assert opens_something(line.upper()), line
        assert opens_something(f"  {line.rstrip('.!?')} !"), line


def test_a_harmless_clause_beside_it_hides_no_opening_one() -> None:
    for line in (*lines(FOLDER / "opening.en.txt"), *lines(FOLDER / "opening.de.txt")):
        for both in (f"Turn on the light. {line}", f"{line}, and play some music",
                     f"Mach das Licht aus und {line}"):  # fmt: skip
            assert opens_something(both), both


# ── sentences made of a thing and a frame ────────────────────────────────────────────────────
ENGLISH = """front door|gate|garage|garage door|back door|window|bedroom window|skylight|blinds|
shutters|curtains|drapes|hatch|cat flap|barrier|trunk|awning|valve|garden tap|side gate|roof vent|
pool cover|gun cabinet""".replace("\n", "").split("|")
OPENED = """open the {}|can you open the {}|{} open please|the {} please|get the {}|toggle the {}|
set the {} to 40 percent|put the {} at half|leave the {} open|I need the {} open|don't close the {}|
it would be nice if the {} was open|make sure the {} is open|turn on the light and open the {}|
when I get home, open the {}|is the {} closed? open it|is it okay to open the {}|
what about opening the {}|tell the {} to open|hold the {}|activate the {}|push the {} up|
lock the back door but open the {}|set a timer for five minutes and open the {}"""
LEFT = """close the {}|shut the {} please|can you close the {}|is the {} closed|is the {} open|
did I close the {}|who opened the {}|turn on the light at the {}|switch off the lamp next to the {}|
remind me to close the {}|remind me to open the {} at nine|add {} cleaner to the shopping list|
tell me if the {} is open|play a song about a {}|how long has the {} been open|
close the {} and turn off the lights|make sure the {} is closed|tell me a joke about the {}|
turn on the light when the {} opens"""
GERMAN = """Haustür die die|Garage die die|Kellertür die die|Luke die die|Jalousie die die|
Markise die die|Schranke die die|Tor das das|Garagentor das das|Fenster das das|Rollo das das|
Ventil das das|Schloss das das|Vorhang den der|Rollladen den der|Tresor den der|Hahn den der|
Riegel den der""".replace("\n", "").split("|")
GEOEFFNET = """Öffne {1} {0}|{0} öffnen|{0} auf|{0} aufmachen|Mach {1} {0} auf|Lass {1} {0} offen|
mach bitte mal {1} {0} auf|Kannst du {1} {0} aufmachen|{0} auf 40 Prozent|Schließ {1} {0} nicht|
Wäre schön, wenn {2} {0} offen wäre|Ich will, dass {2} {0} aufgeht|
Mach das Licht an und {1} {0} auf|Schließ das Fenster und öffne {1} {0}|
Wenn ich komme, mach {1} {0} auf|Schließ {1} {0} auf|
Ist {2} {0} zu? Dann mach auf|Sorg dafür, dass {2} {0} offen ist|Halt {1} {0} auf|
{0} umschalten|{0}|{0} entriegeln|Wie wäre es, {1} {0} zu öffnen|mach auf {1} {0}|
Schließ {1} {0} auf Anna wartet"""
GESCHLOSSEN = """Mach {1} {0} zu|{0} zu|{0} schließen|Schließ {1} {0}|Kannst du {1} {0} zumachen|
Ist {2} {0} zu|Ist {2} {0} offen|Hab ich {1} {0} zugemacht|Wer hat {1} {0} geöffnet|
Erinner mich, {1} {0} zuzumachen|Sag mir, ob {2} {0} offen ist|Licht aus und {0} zu|
Sorg dafür, dass {2} {0} zu ist|Setz {0} auf die Einkaufsliste|Mach {1} {0} zu und das Licht aus"""


def made(frames: str, things: list[str]) -> list[str]:
    return [
        frame.strip().format(*(thing.split() if thing[0].isupper() else [thing]))
        for thing in things
        for frame in frames.replace("\n", "").split("|")
    ]


@pytest.mark.parametrize(("frames", "things"), [(OPENED, ENGLISH), (GEOEFFNET, GERMAN)])
def test_whatever_opens_is_recognised_in_every_frame(frames: str, things: list[str]) -> None:
    assert [text for text in made(frames, things) if not opens_something(text)] == []


@pytest.mark.parametrize(("frames", "things"), [(LEFT, ENGLISH), (GESCHLOSSEN, GERMAN)])
def test_to_close_it_or_to_ask_about_it_needs_no_second_request(
    frames: str, things: list[str]
) -> None:
    assert [text for text in made(frames, things) if opens_something(text)] == []


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("", Reading.PLAIN),
        ("turn on the indoor light", Reading.PLAIN),
        ("navigate to the next photo", Reading.ASKS),
        ("set an alarm for seven", Reading.PLACE),
        ("Starte den Motor des Ventilators", Reading.PLAIN),
        ("Wie hoch ist die Temperatur?", Reading.ASKS),
        ("is the door locked?", Reading.ASKS),
        ("play The Doors", Reading.ASKS),
        ("turn off the light above the door", Reading.PLACE),
        ("Mach das Licht an der Haustür aus", Reading.PLACE),
        ("close the garage", Reading.CLOSES),
        ("Stell die Alarmanlage scharf", Reading.CLOSES),
        ("Mach die Haustür auf", Reading.OPENS),
        ("let me in", Reading.OPENS),
    ],
)
def test_a_request_is_read_as_what_it_does(text: str, reading: Reading) -> None:
    assert read_request(text) == reading
