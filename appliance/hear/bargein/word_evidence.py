"""Converts recognised words to evidence for the verdict: a table of log odds. Pure."""

from __future__ import annotations

from appliance.hear.bargein.classifier import NO_EVIDENCE, LogOdds
from appliance.messages.hearing import PhraseKind, WordsHeard

# Log odds for backchannel, interruption, noise if the recogniser is certain (`sure` is 1). They are
# scaled with the square of `sure`: of pocketsphinx's "yes" and "right", those above 0.8 are right
# 100 to 1, those below 0.4 only by chance.
# Words on no list are no evidence: the verdict's network gets the same sound, and gets it sooner.
WEIGHTS: dict[PhraseKind, LogOdds] = {
    "stop":     LogOdds(-2.5,  2.5, -1.0),
    "repeat":   LogOdds(-2.5,  2.5, -1.0),
    "yield":    LogOdds(-2.5,  2.5, -1.0),
    "carry_on": LogOdds( 2.5, -2.5, -1.0),
    "other":    NO_EVIDENCE,
}  # fmt: skip


def evidence(words: WordsHeard) -> LogOdds:
    """The log odds of recognised words; NO_EVIDENCE without words."""
    if not words.text:
        return NO_EVIDENCE
    return LogOdds(*(words.sure**2 * weight for weight in WEIGHTS[words.kind]))
