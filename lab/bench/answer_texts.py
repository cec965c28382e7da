"""What is asked and answered in `bench answer` where the model's weights are synthetic.

Questions take espeak-ng about four seconds. Answers are worded as a model words them; a bench whose
weights are random has them recited (answer_thinker.py), so that clauses end where clauses do.
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
# First clauses of four to eight words, cut where think/sentences.py cuts.
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
    """Tokens that must be drawn before `text` is known to be the first piece for the voice: its
    words and marks, a token each, and behind all but a comma the one that tells that it is over."""
    return len(_TOKENS.findall(text)) + (not text.endswith((",", ";")))
