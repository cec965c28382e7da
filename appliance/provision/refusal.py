"""What is wrong with what an owner says of a new box: a sentence of the catalogue, so that the
set-up page and the voice say it in their language, and the log in English."""

from __future__ import annotations

from appliance.errors import InterludeError, SeedRefused
from appliance.language.catalogue import BoxSentence, Catalogue, english
from appliance.provision.setup_sentences import Sentence


class SayableRefusal(SeedRefused):
    """`sentence`: what is wrong, and what to do about it."""

    def __init__(self, sentence: BoxSentence) -> None:
        super().__init__(sentence.text(english()), shown=sentence.shown)
        self.sentence = sentence


def sentence_of(error: InterludeError) -> Sentence:
    """What to say of it; in English alone, where the catalogue has no words for it."""
    return error.sentence if isinstance(error, SayableRefusal) else str(error)


def told(error: InterludeError, words: Catalogue) -> str:
    """The same in the language of `words`."""
    return error.sentence.text(words) if isinstance(error, SayableRefusal) else str(error)
