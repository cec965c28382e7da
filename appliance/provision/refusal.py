"""Errors of set-up data as sentences of the catalogue, so that the set-up page and the voice can
translate them, while the log has English."""

from __future__ import annotations

from appliance.errors import InterludeError, SeedRefused
from appliance.language.catalogue import BoxSentence, Catalogue, english
from appliance.provision.setup_sentences import Sentence


class SayableRefusal(SeedRefused):
    """A SeedRefused that can be translated. `sentence`: the problem and its remedy."""

    def __init__(self, sentence: BoxSentence) -> None:
        super().__init__(sentence.text(english()), shown=sentence.shown)
        self.sentence = sentence


def sentence_of(error: InterludeError) -> Sentence:
    """The sentence to say about an error; English text if the catalogue has no sentence for it."""
    return error.sentence if isinstance(error, SayableRefusal) else str(error)


def told(error: InterludeError, words: Catalogue) -> str:
    """The text of an error in the language of `words`; English if there is no sentence for it."""
    return error.sentence.text(words) if isinstance(error, SayableRefusal) else str(error)
