"""Corrects a misspelt word to one that opens or guards. Pure.

A few words that close are among them, so that "clsoe the door" is not asked for twice.
"""

from __future__ import annotations

# Words that are worth a correction: the most frequent ones of at least five letters.
_WORDS = """
    close closed lower schliess schliesse schliessen abschliessen zumachen verriegeln verriegle
    unlock unlocks unlocked unlocking unlatch unbolt disarm disarmed opened opening doors gates
    garage garages window windows shutter shutters blinds curtain curtains drapes skylight
    awning padlock deadbolt buzzer valve faucet alarm alarms camera cameras detector detectors
    sensor sensors siren sirens barrier bollard bollards oeffne oeffnen oeffnest aufmachen
    aufsperren aufschliessen aufschliess entriegel entriegeln entriegle entsperr entsperre
    entsperren entschaerfen deaktivieren unscharf tueren haustuer kellertuer hintertuer
    terrassentuer balkontuer wohnungstuer eingangstuer seitentuer garagentor gartentor hoftor
    rolltor einfahrtstor garagen fenster dachfenster rollladen rollaeden rolladen rollos
    jalousie jalousien markise vorhang vorhaenge gardine gardinen ventil schloss tuerschloss
    riegel katzenklappe schranke poller sirene alarmanlage einbruchschutz bewegungsmelder melder
    kamera kameras tueroeffner tuersummer tresor kindersicherung schieber wasserhahn gashahn
""".split()
_ENDS = "fenster garage rollladen jalousie kamera sirene markise vorhang gardine schranke".split()
# Real words that are one letter away from one of these.
REAL_WORDS = frozenset(
    """
    abschiessen alarmed anschliessen aufwachen ausschliessen ballard barbier barrie bates
    billard binds bland blend blends blinde blini blinks blond blower bower bullard buzzed
    carrier censor censors certain chose clone cloned closer closet clove coors curtail curtin
    dates dawning disregarding donors draped draper dueren elder facet farage fates felder
    fester finster finsternis flower gales garbage gardena gardiner garten gases gated gaten
    gelder gespenster gespenstern gower grapes gutes hater hates haustier holler iren irene
    jalapeno kamerad kantine klose koller later loner loosen lose loser lover lowe mates melde
    melden meldet milder moors mulder neumuenster oates odors openings owning paddock pater
    pollard polled pollen ported power rapes rates regarding regel regeln riedel riege rieger
    rollator roller rolls rower salve schiebe schieben schiefer schiess schiesse schiessen
    schlanke schluesse schluss schoenster schoss schraenke schrank senior seniors sensory serene
    shatter shatters siegel sire slower stutter sutter tater tensor teuren tieren toller tower
    tremor trevor tuerken tuermen tueten vale valle value verschiedenster viren voller vorgaenge
    vorgang vorhand vorrang waning welder widow widows winder yates yawning ziegel
    """.split()
)
_LEAST_LETTERS = 4  # shorter words are too close to others
_LEAST_COMPOUND = 9


def correct(word: str) -> str:
    """Return the guarded word that is one mistake away from `word`, or `word` itself."""
    if len(word) < _LEAST_LETTERS or word in REAL_WORDS or word in _WORDS:
        return word
    if len(word) >= _LEAST_COMPOUND:
        for end in _ENDS:
            if one_mistake(word[-len(end) :], end):
                return word[: -len(end)] + end
    return next((known for known in _WORDS if one_mistake(word, known)), word)


def one_mistake(word: str, known: str) -> bool:
    """Whether one letter is wrong, missing or too many, or two neighbours are exchanged."""
    if word == known or abs(len(word) - len(known)) > 1:
        return False
    start = 0
    while start < min(len(word), len(known)) and word[start] == known[start]:
        start += 1
    rest, wanted = word[start:], known[start:]
    return (
        rest[1:] == wanted[1:]
        or rest[1:] == wanted
        or rest == wanted[1:]
        or (rest[:2] == wanted[1::-1] and rest[2:] == wanted[2:])
    )
