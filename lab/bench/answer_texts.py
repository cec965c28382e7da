"""Lists questions and answers of `bench answer` for a model with synthetic weights.

Questions take espeak-ng about four seconds. Answers are worded as a model's; as the weights are
random, answer_thinker.py recites them, so that clauses have realistic lengths.
"""

from __future__ import annotations

import re

QUESTIONS = (
    "could you tell me how far away the moon is from here and how we know",
    "what is the difference between a lake and a sea and which is deeper",
    "how long do I have to boil an egg if I like it a little soft inside",
    "why is the sky blue during the day and red when the sun is going down",
    "who built the old bridge in the middle of the town and when was that",
    "what should I cook tonight with potatoes and onions and a bit of cheese",
    "how do birds find their way over the sea when they fly south in winter",
    "which train should I take if I have to be in London before nine o'clock",
)
# First clauses have four to eight words, as think/sentences.py cuts them.
ANSWERS = (
    "The moon is far away, about four hundred thousand kilometres from us. Light takes one second.",
    "A lake is inland water, while a sea is joined to the ocean. The sea is usually deeper.",
    "Boil it for five minutes. Then put it into cold water so that it stops cooking.",
    "Air scatters blue light more than red. In the evening the light has a longer way to go.",
    "It was built long ago, by people of this town. Nobody has written down who they were.",
    "You could make a simple potato gratin. Slice them thin and put the cheese on top.",
    "They look at the sun, and at the stars at night. Some feel the field of the earth.",
    "The train at seven is early enough. It arrives at half past eight if it is on time.",
    "Yes, of course I can do that. Tell me when you would like to begin.",
    "That depends on the weather, which changes quickly here. Take a coat with you.",
)
_TOKENS = re.compile(r"\w+|[^\w\s]")


def tokens_to_say(text: str) -> int:
    """Tokens that must be sampled before `text` is known to be the first piece for the voice: one
    for each word and punctuation mark, and the next token unless `text` ends in a comma or
    semicolon."""
    return len(_TOKENS.findall(text)) + (not text.endswith((",", ";")))
