"""The table of simple German requests, with parsers for numbers, lengths of time and times of day.

Patterns are spelt without umlauts (`fold`), so that "fuenf" and "fünf" are equal.
"""

from __future__ import annotations

import re

from appliance.tools.request_grammar import (
    RequestGrammar,
    Row,
    alarm,
    always,
    at,
    before_or_after,
    house,
    remove_matches,
    timer,
)
from appliance.tools.tool_call_syntax import ToolCall

_ONES = """null ein zwei drei vier fuenf sechs sieben acht neun zehn elf zwoelf dreizehn vierzehn
fuenfzehn sechzehn siebzehn achtzehn neunzehn""".split()
_TENS = "zwanzig dreissig vierzig fuenfzig sechzig siebzig achtzig neunzig".split()
_VALUES = {word: number for number, word in enumerate(_ONES)}
_VALUES |= {word: 10 * (tens + 2) for tens, word in enumerate(_TENS)}
_VALUES |= {
    f"{ones_word}und{tens_word}": 10 * (tens + 2) + ones
    for ones, ones_word in enumerate(_ONES[:10])
    for tens, tens_word in enumerate(_TENS)
    if ones
}
_VALUES |= dict.fromkeys(("eins", "eine", "einer", "einem", "einen", "eines"), 1)
_VALUES |= {"zwo": 2}
_VALUES |= {f"{count_word}hundert{rest}": 100 * hundred + value
            for count_word, hundred in (("", 1), ("ein", 1), ("zwei", 2))
            for rest, value in ({"": 0} | _VALUES).items() if rest == "" or value}  # fmt: skip
_UNITS = {"sekunde": 1 / 60, "minute": 1.0, "stunde": 60.0}
# Lengths in minutes with a name of their own: "eine Viertelstunde".
_QUARTERS = {"viertelstunde": 15.0, "halbe stunde": 30.0, "halben stunde": 30.0,
             "dreiviertelstunde": 45.0, "drei viertel stunde": 45.0, "halbstunde": 30.0,
             "halbe minute": 0.5, "halben minute": 0.5}  # fmt: skip
_POLITE = (
    re.compile(r"^(bitte|hey|okay|ok|kannst du|könntest du|koenntest du|würdest du|wuerdest du|"
               r"und|mal|doch|mir|jetzt)\b"),
    re.compile(r"\b(bitte|mal|doch|jetzt)$"),
    re.compile(r"(?<= )(bitte|mal|doch|jetzt) "),
)  # fmt: skip
_LENGTH = re.compile(r"(?P<count>[a-z0-9., ]+?) (?P<unit>sekunde|minute|stunde)n?"
                     r"(?: (?:und )?(?P<rest>.+))?")  # fmt: skip
_NOT = re.compile(r"\b(nicht|nie|niemals|kein\w*)\b")
_PARTS = r"(?:frueh|vormittag|mittag|nachmittag|abend|nacht)"
_DAY_FIRST = re.compile(rf"(?P<day>heute|morgen)(?: (?P<part>{_PARTS}))?(?: um)? (?P<clock>.+)")
_DAY_LAST = re.compile(rf"(?P<clock>.+?)(?: uhr)? (?P<part>frueh|morgens|am morgen|{_PARTS}s|"
                     rf"(?:am|in der) {_PARTS})")  # fmt: skip
_DIGITS = re.compile(r"(?P<hour>[0-9]{1,2})[:.](?P<minute>[0-9]{2})(?: uhr)?")
_RELATIVE = re.compile(
    r"(?P<count>viertel|[a-z0-9]+?)(?: minuten?)? (?P<side>nach|vor) (?P<half>halb )?"
    r"(?P<hour>[a-z0-9]+)(?: uhr)?"
)
_PART_OF_HOUR = re.compile(r"(?P<part>halb|viertel|dreiviertel|drei viertel) (?P<hour>[a-z0-9]+)")
_PLAIN_TIME = re.compile(r"(?P<hour>[a-z0-9]+)(?: uhr(?: (?P<minute>[a-z0-9]+))?)?")
_MINUTES_OF = {"halb": 30.0, "viertel": 15.0, "dreiviertel": 45.0, "drei viertel": 45.0}
_NOON_ENDS, _LATE = 3, 8  # "mittags" means after noon before hour 3, "nachts" from hour 8 on
_NAMED = {"mittag": (12.0, 0.0), "mitternacht": (0.0, 0.0)}


def fold(words: str) -> str:
    """Replace umlauts and "ß" by the two letters that the tables use."""
    for letter, two in (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ß", "ss")):
        words = words.replace(letter, two)
    return words


def number(text: str) -> float | None:
    """Parse a number in words or digits: "fünf", "fünfundzwanzig", "2,5", "zweieinhalb".

    Return None if it is none.
    """
    word = fold(text.strip().lower())
    if re.fullmatch(r"[0-9]{1,4}(?:[.,][0-9]{1,3})?", word):
        return float(word.replace(",", "."))
    if word == "anderthalb":
        return 1.5
    if (half := re.fullmatch(r"(.+?) ?ein(?:e|en|er)?halb", word)) and half[1] in _VALUES:
        return _VALUES[half[1]] + 0.5
    value = _VALUES.get(word)
    return None if value is None else float(value)


def minutes(words: str) -> float | None:
    """Parse "fünf Minuten", "eine halbe Stunde", "eine Stunde und zehn Minuten"; else None."""
    words = fold(words)
    single = re.sub(r"^(eine[rn]?|ein) ", "", words)
    if single in _QUARTERS:
        return _QUARTERS[single]
    found = _LENGTH.fullmatch(words)
    if found is None:
        return None
    count, rest = number(found["count"]), 0.0
    if found["rest"]:
        more = minutes(found["rest"])
        if more is None:
            return None
        rest = more
    return None if count is None else count * _UNITS[found["unit"]] + rest


def clock(words: str) -> str | None:
    """Parse "halb acht", "Viertel nach drei", "morgen früh um sieben", "19 Uhr"; None if invalid.

    Without a part of the day the hour is taken as one of 24: "halb acht" is 07:30."""
    words, tomorrow, part = fold(words.lower()).removeprefix("um "), False, ""
    if found := _DAY_FIRST.fullmatch(words):
        words, tomorrow = found["clock"], found["day"] == "morgen"
        part = found["part"] or ""
    if found := _DAY_LAST.fullmatch(words):
        words, part = found["clock"], re.sub(r"^(am|in der) |s$", "", found["part"])
    if (time := _NAMED.get(words) or _time(words)) is None:
        return None
    hour, minute = time
    return at(_in_part(hour, part), minute, tomorrow=tomorrow)


def _in_part(hour: float, part: str) -> float:
    """Convert an hour of a 12-hour clock to one of 24 by the part of the day."""
    if hour == 12 and part == "nacht":
        return 0
    late = (
        part in ("nachmittag", "abend")
        or (part == "mittag" and hour < _NOON_ENDS)
        or (part == "nacht" and hour >= _LATE)
    )
    return hour + 12 if late and hour < 12 else hour


def _time(words: str) -> tuple[float, float] | None:
    if found := _DIGITS.fullmatch(words):
        return float(found["hour"]), float(found["minute"])
    if found := _PART_OF_HOUR.fullmatch(words):  # names the hour that ends: "halb acht" is 7:30
        return _minutes_before(number(found["hour"]), 60.0 - _MINUTES_OF[found["part"]])
    if found := _RELATIVE.fullmatch(words):
        offset = _MINUTES_OF.get(found["count"]) or number(found["count"])
        hour, past = number(found["hour"]), found["side"] == "nach"
        if offset is None or hour is None or not 0 < offset < 30:
            return None
        if found["half"]:
            return _minutes_before(hour, 30.0 - offset if past else 30.0 + offset)
        return before_or_after(hour, offset, past=past)
    if found := _PLAIN_TIME.fullmatch(words):
        hour, minute = number(found["hour"]), number(found["minute"] or "null")
        if hour is not None and minute is not None:
            return hour, minute
    return None


def _minutes_before(hour: float | None, left: float) -> tuple[float, float] | None:
    """Return the time `left` minutes before an hour."""
    return None if hour is None else before_or_after(hour, left, past=False)


def tidy(text: str) -> str:
    """Return the text's words in small letters without polite phrases."""
    words = " ".join(re.sub(r"[^a-zäöüß0-9.,:' -]", " ", text.lower()).split())
    words = re.sub(r"[.,:]+(?= |$)", "", words)
    return " ".join(remove_matches(_POLITE, words).split())


def _house_pattern(words: str) -> str:
    """Return a pattern for a request about one device; a request with a negation does not match."""
    return rf"(?!.*{_NOT.pattern}){words}"


_THING = "(das|die|den|alle) [a-z ]{1,60}"
_ROWS: tuple[Row, ...] = (
    (r"wie spaet ist es|wie ?viel uhr ist es|wie spaet haben wir( es)?|"
     r"(was ist|sag|sage|nenne?)( mir)? die (uhrzeit|zeit)|uhrzeit", always("time")),
    (r"(welcher tag|welches datum|der wievielte|was fuer ein tag|was fuer ein datum) ist( es)? "
     r"heute|(welchen tag|welches datum|den wievielten) haben wir( heute)?|"
     r"(was ist|sag|sage|nenne?)( mir)? das( heutige)? datum|welcher tag ist es", always("date")),
    (r"(stelle?|starte?|setze?|mache?)( mir)? (einen|den) timer (auf|fuer|von|ueber) "
     r"(?P<length>.+)", timer),
    (r"(stelle?|starte?|setze?|mache?)( mir)? einen (?P<length>[a-z0-9]+[ -]?minuten)[ -]?timer",
     lambda found: timer_of_one_word(found.group("length"))),
    (r"(einen |den )?timer (auf|fuer|von|ueber) (?P<length>.+?)( stellen| starten| setzen)?",
     timer),
    (r"weck(e)? mich in (?P<length>.+)", timer),
    (r"(stelle?|setze?)( mir)? (einen|den|meinen) wecker (auf|fuer) (?P<clock>.+)", alarm),
    (r"(einen |den )?wecker (auf|fuer) (?P<clock>.+?)( stellen| setzen)?", alarm),
    (r"weck(e)? mich (?P<clock>(um|heute|morgen) .+)", alarm),
    (r"(loesche?|stoppe?|beende|stelle?|schalte?|mache?) (den|meinen) (timer|wecker)"
     r"( (aus|ab))?|brich (den|meinen) (timer|wecker) ab|"
     r"(den )?(timer|wecker) (aus|stopp|loeschen|stoppen|abbrechen|ausschalten|abstellen)",
     always("cancel_timer")),
    (r"welche (timer|wecker)( und (timer|wecker))? (laufen|gibt es|sind gestellt|habe ich)|"
     r"wie lange( laeuft der timer| dauert es)? noch|wie ?viel zeit (ist|bleibt)( mir)?( noch)?|"
     r"wie lange laeuft der timer", always("timers")),
    (r"lauter|(sprich|rede|mache?|sei)( es)? lauter|(drehe?|mache?|stelle?) (es|dich|den ton|die "
     r"lautstaerke) (auf|hoch|lauter)|lautstaerke (hoch|rauf)", always("volume", change="up")),
    (r"leiser|(sprich|rede|mache?|sei)( es)? leiser|(drehe?|mache?|stelle?) (es|dich|den ton|die "
     r"lautstaerke) (runter|herunter|leiser)|lautstaerke (runter|herunter)",
     always("volume", change="down")),
    (r"(sag|sage|wiederhole?) (das|es)( (noch ?einmal|noch ?mal))?|was hast du gesagt|"
     r"(noch ?einmal|noch ?mal)", always("repeat")),
    (r"vergiss (das|was ich gesagt habe)", always("forget")),
    (_house_pattern(rf"(schalte?|mache?) {_THING} (an|ein|aus)"), house),
    (_house_pattern(rf"{_THING} (an|ein|aus)(schalten|machen)"), house),
)  # fmt: skip


def timer_of_one_word(length: str) -> ToolCall | None:
    """Make the call for a length within a word: "fünf-Minuten" in "einen Fünf-Minuten-Timer"."""
    found = re.fullmatch(r"([a-z0-9]+?)[ -]?minuten", length)
    count = number(found[1]) if found else None
    return None if count is None else ToolCall("timer", {"minutes": round(count, 3)})


GRAMMAR = RequestGrammar(_ROWS, tidy, fold, number, minutes, clock)
