"""Lists the pocket model's answers that are in no training set of a speech head, by name.

The names are those of `HELD_OUT` in training/speech_head/texts.py.
"""

import re

HELD_OUT = {
    "river": (
        "Rivers often begin with almost nothing, a spring between two stones or the edge of a "
        "melting glacier. A few drops find each other and run downhill. More small streams "
        "join them on the way. In the mountains the young river is cold, loud and fast. It "
        "rolls stones along and grinds them round. In the plains it becomes wide and calm. "
        "There it swings from side to side in large loops. It drops the sand and mud that it "
        "carried, and the fields beside it become rich. That is why many old cities stand on "
        "rivers. The Nile and the Amazon are the longest of all. At the end a river meets the "
        "sea, and its sweet water turns to salt."
    ),
    "sun": (
        "Our sun is a star, a huge ball of glowing gas. More than a million worlds like ours "
        "would fit inside it. In its core hydrogen turns into helium at about fifteen million "
        "degrees. The surface is much cooler, but still about five and a half thousand "
        "degrees. The light needs a little more than eight minutes to reach us. So we always "
        "see the sun as it was eight minutes ago. Nearly everything that lives depends on "
        "this light. Plants store it, and we eat the plants. The wind and the rain get their "
        "strength from it too. The sun is about four and a half billion years old. It has "
        "enough fuel for about five billion more."
    ),
    "cheese": (
        "Cheese starts as warm milk. A little rennet makes it set, like a soft pudding. The "
        "curd is cut, drained, salted and pressed, and then it rests for weeks or months."
    ),
    "clouds": (
        "Clouds are made of tiny drops of water or small crystals of ice. They float because "
        "they are so light. A white summer cloud can still weigh as much as a hundred "
        "elephants."
    ),
    "spider": ("Spiders have eight legs. Insects have only six, so a spider is not an insect."),
    "italy": ("Rome is the capital of Italy."),
    "egg": (
        "Put the egg into boiling water. Six minutes give you a soft egg, and ten minutes a "
        "hard one. Then cool it under cold water."
    ),
    "how_are_you": (
        "I am fine, thank you. All my lights are on and I like the company. How are you?"
    ),
    "where": ("Here, in this little box. Nothing you say leaves it."),
    "sad": (
        "I am sorry to hear that. I cannot change it, but I have time for you. Maybe a walk "
        "or a warm cup of tea would help a little."
    ),
    "riddle_answer": ("It is a clock. It has hands, but it cannot clap."),
    "not_understood": ("Sorry, I did not understand that. Please say it in another way."),
    "book": (
        "Try Treasure Island by Robert Louis Stevenson. It has a map, a storm and a pirate "
        "you cannot quite hate."
    ),
    "sky": (
        "Sunlight holds all the colours. The air scatters blue light much more than red "
        "light. So blue reaches your eyes from every side, and the sky looks blue."
    ),
    "wait": ("Sure, take your time."),
}
_END = re.compile(r"(?<=[.?!]) +")


def held_out_sentences() -> list[str]:
    """The sentences of all these answers, in order."""
    return [sentence for text in HELD_OUT.values() for sentence in _END.split(text.strip())]
