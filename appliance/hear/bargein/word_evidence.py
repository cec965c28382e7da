"""The weight of recognised words in the verdict, beside the sound: one table of log odds. Pure."""

from __future__ import annotations

from appliance.hear.bargein.classifier import NO_EVIDENCE, LogOdds
from appliance.hear.words.phrases import PhraseKind
from appliance.messages.hearing import WordsHeard

# Log odds for backchannel, interruption, noise where the recogniser is certain (`sure` is 1). They
# shrink with the square of its certainty: of pocketsphinx's "yes" and "right", the ones it is sure
# of by more than 0.8 are right 100 to 1, those below 0.4 no better than a coin.
# What is on no list decides nothing: the network has heard the same sound, and heard it sooner.
WEIGHTS: dict[PhraseKind, LogOdds] = {
    "stop":     LogOdds(-2.5,  2.5, -1.0),
    "yield":    LogOdds(-2.5,  2.5, -1.0),
    "carry_on": LogOdds( 2.5, -2.5, -1.0),
    "other":    NO_EVIDENCE,
}  # fmt: skip


def evidence(words: WordsHeard) -> LogOdds:
    """Log odds of what was understood; none of nothing."""
    if not words.text:
        return NO_EVIDENCE
    return LogOdds(*(words.sure**2 * weight for weight in WEIGHTS[words.kind]))
