"""What people say to the box: requests with their wrappers, and sentences it does not know.

In: requests.yaml and a seeded random generator. Out: (text, name of the answer) pairs.
"""

from pathlib import Path
from random import Random

import yaml

HERE = Path(__file__).parent
UNKNOWN = "not_understood"
BEFORE = ["wait", "no", "no wait", "wait no", "hold on", "okay", "actually", "please", "hey", "interlude",
          "hey interlude", "hello", "so", "and", "now", "well", "um", "oh", "sorry", "stop", "okay interlude", "yes"]
ASKING = ["can you", "could you", "will you", "would you", "please", "can you please", "now", "i want you to"]
AFTER = ["please", "instead", "now", "then", "again", "interlude", "today", "for me", "please interlude", "thank you"]
ORDERS = {"tell", "talk", "read", "explain", "play", "put", "turn", "switch", "set", "start", "sing", "say", "count",
          "give", "recommend", "make", "repeat", "continue", "stop", "be", "go"}
STEERING = {"stop", "never_mind", "quiet", "wait", "go_on", "yes", "no", "okay", "sorry", "hello", "goodbye", "thanks",
            "good_morning", "good_evening", "good_night", "well_done"}

# Sentences outside the table: near ones share their words with requests, far ones do not.
TOPICS = """trains,football,my brother,the garden,cars,elephants,the war,your mother,airplanes,history,the bank,computers,
horses,shoes,the doctor,politics,bicycles,china,the kitchen,fishing,roses,bridges,potatoes,the telephone,winter,holidays,
the library,money,soap,lions,castles,engines,my sister,chocolate,school,tigers,the dentist,pizza,hospitals,wolves,
rabbits,the desert,islands,paper,glass,the king,painting,dinosaurs,the market,onions,frogs,carpets,windows,pyramids,
gold,silver,iron,apples,the planet mars,jupiter,whales,sharks,butter,milk,wine,sugar,the wind,the forest,the city,
the farm,cows,sheep,snakes,ants,tennis,swimming,the piano,guitars,the bus,boats,ships,the church,the queen,america,
london,berlin,the beach,the lake,fire,lightning,thunder,the heart,teeth,hair,hats,socks,coats,tomatoes,bananas,rice,
soup,cake,salt,pepper,knives,the mirror,the door,stairs,the moonlight sonata,seaside hotels,mountain bikes,star wars,
tea pots,coffee cups,rain coats,bread knives,storybooks""".replace("\n", "").split(",")
PEOPLE = "my brother,the old man,a woman,the teacher,your friend,our neighbour,she,he,they,the children,a farmer,the driver,"\
         "my grandmother,the girl,this boy,somebody,the whole family,a tall soldier,peter,maria,the president".split(",")
DOES = "sold,opened,painted,found,carried,dropped,washed,forgot,bought,followed,remembered,fixed,lost,visited,cut,moved,"\
       "watched,borrowed,kicked,cleaned,built,pushed,closed,needed,hated,wrote about,looked for,asked about,paid for".split(",")
WHEN = ["", "", "", "yesterday", "last week", "in the morning", "on friday", "before lunch", "after the game", "in april",
        "at the station", "near the river bank", "in the big house", "with a friend", "for three days", "without a word",
        "two years ago", "at night", "because it was late", "when the bell rang"]
COUNTRIES = "poland,sweden,brazil,canada,china,india,egypt,greece,norway,mexico,russia,portugal,austria,kenya".split(",")
NUMBERS = "one,three,five,six,seven,eight,nine,eleven,twelve,twenty,thirty,forty,a hundred".split(",")
DRINKS = "coffee,espresso,latte,cappuccino,americano,mocha".split(",")
WORDS = """up down left right go on off backward forward follow learn bed bird cat dog happy house marvin sheila tree
visual wow zero one two three four five six seven eight nine""".split()
NEAR = [
    lambda r: f"tell me about {r.choice(TOPICS)}",
    lambda r: f"what do you know about {r.choice(TOPICS)}",
    lambda r: f"talk about {r.choice(TOPICS)}",
    lambda r: f"what is the capital of {r.choice(COUNTRIES)}",
    lambda r: f"how many {r.choice(['legs', 'people', 'books', 'wheels', 'rooms', 'eyes'])} has {r.choice(PEOPLE)}",
    lambda r: f"what is {r.choice(NUMBERS)} {r.choice(['plus', 'times', 'minus'])} {r.choice(NUMBERS)}",
    lambda r: f"how do i {r.choice(['clean', 'paint', 'fix', 'open', 'sell', 'wash', 'cut', 'find'])} {r.choice(TOPICS)}",
    lambda r: f"how far is {r.choice(TOPICS)}",
    lambda r: f"where is {r.choice(PEOPLE)}",
    lambda r: f"why {r.choice(['is', 'was'])} {r.choice(PEOPLE)} so {r.choice(['late', 'tall', 'angry', 'quick', 'old'])}",
    lambda r: f"turn {r.choice(['left', 'right', 'around', 'up', 'down'])} at {r.choice(TOPICS)}",
    lambda r: f"call {r.choice(PEOPLE)}", lambda r: f"send a letter to {r.choice(PEOPLE)}",
    lambda r: f"how is {r.choice(TOPICS)} made", lambda r: f"what is {r.choice(TOPICS)}",
    lambda r: f"give me {r.choice(NUMBERS)} {r.choice(TOPICS)}", lambda r: f"{r.choice(TOPICS)}",
    lambda r: f"do you {r.choice(['want', 'need', 'remember', 'sell', 'see', 'own'])} {r.choice(TOPICS)}",
    lambda r: f"can i have {r.choice(['a', 'one', 'two', 'a large', 'a small'])} {r.choice(DRINKS)}"
              f"{r.choice(['', ' with milk', ' with sugar', ' and a cake', ' to go', ' with a double shot'])}",
    lambda r: f"i would like {r.choice(['a', 'one large', 'a medium', 'a small'])} {r.choice(DRINKS)} with "
              f"{r.choice(['cream', 'brown sugar', 'hazelnut', 'no milk', 'extra shots', 'vanilla'])}",
]
FAR = [lambda r: f"{r.choice(PEOPLE)} {r.choice(DOES)} {r.choice(TOPICS)} {r.choice(WHEN)}".strip()] * 12 + [
    lambda r: " ".join(r.choice(WORDS) for _ in range(r.choice([1, 1, 1, 2, 3]))),
    lambda r: f"{r.choice(WHEN)} {r.choice(PEOPLE)} {r.choice(DOES)} it".strip()] * 3


def requests() -> dict[str, list[str]]:
    return yaml.safe_load((HERE / "requests.yaml").read_text())


def answers() -> dict[str, str]:
    return {k: " ".join(v.split()) for k, v in yaml.safe_load((HERE / "answers.yaml").read_text()).items()}


def wrap(text: str, name: str, r: Random) -> str:
    """One request as somebody might put it; a comma is a short pause."""
    if name in STEERING:
        if r.random() < 0.25:
            text = f"{text}{r.choice(['', ','])} {r.choice(['interlude', 'please', 'now'])}"
        return f"{r.choice(['okay', 'hey', 'interlude', 'please', 'oh'])}, {text}" if r.random() < 0.15 else text
    if text.split()[0] in ORDERS and r.random() < 0.3:
        text = f"{r.choice(ASKING)} {text}"
    if r.random() < 0.3:
        text = f"{text}{r.choice(['', '', ','])} {r.choice(AFTER)}"
    if r.random() < 0.45:
        text = f"{r.choice(BEFORE)}{r.choice(['', ',', ',', '...'])} {text}"
    return text


def request(table: dict[str, list[str]], r: Random) -> tuple[str, str]:
    name = r.choice(list(table))
    return wrap(r.choice(table[name]), name, r), name


def unknown(table: dict[str, list[str]], r: Random) -> tuple[str, str]:
    """A sentence that is no request, and never one of the table by accident."""
    known = {p for phrasings in table.values() for p in phrasings}
    while True:
        text = r.choice(NEAR if r.random() < 0.5 else FAR)(r)
        if text not in known:
            return (wrap(text, UNKNOWN, r) if r.random() < 0.4 else text), UNKNOWN
