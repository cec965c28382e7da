"""Lists the sentences of `bench voices`: answers of a box without digits and symbols, so that the
spoken words are exactly the written ones. Every word is in pocketsphinx's dictionary."""

SENTENCES = (
    "The weather will be mild, with some rain in the afternoon and a little sun.",
    "Your timer for the pasta has two minutes left.",
    "I have turned off the lights in the kitchen, the hall and the bedroom.",
    "The moon is about four hundred thousand kilometers away from us.",
    "A lake is inland water, while a sea is joined to the ocean.",
    "Boil the egg for five minutes, then put it into cold water.",
    "The sky is blue, because air turns blue light more than red.",
    "The old bridge was built long ago by the people of this town.",
    "You could make a simple soup with potatoes and onions.",
    "The train at seven is early enough if it is on time.",
    "The museum is open until six, but the last tickets are sold at five.",
    "Take a coat with you, because the evening will be cold.",
    "Whales sleep with one half of the brain at a time.",
    "There is milk in the refrigerator, and bread on the table.",
    "Please tell me when you would like to begin.",
    "Birds look at the sun, and at the stars at night.",
    "The next song is one that you have asked for this week.",
    "Somebody left the window in the bathroom open.",
    "It is twenty degrees in the living room and nine degrees outside.",
    "Yes, of course I can do that for you.",
)
