"""Generates the password of the set-up Wi-Fi from 1024 words, 10 bits each.

The owner hears the password and types it on a phone. The list was written for this purpose. No word
is a prefix of another, so five words without spaces can be split in one way only. No two words
differ by one letter, or by one phoneme of espeak-ng in British or American English. Homophones, and
words with different spellings in the two, are left out.
"""

from __future__ import annotations

import secrets

COUNT = 5  # WPA2 of 50 bits: see docs/security.md

WORDS = """
academy acorn acrobat active actor admiral adobe advice agent agile airport album alert almond
almost alpaca alpine always amazing amazon amber anchor anchovy angle animal answer antenna anthem
apple apricot april arch arctic arena around arrive arrow artisan artist aspen asphalt athlete
atlas atomic attic august avenue avocado awake award awning axis azure baby bacon badge bagel
baker balance balcony balloon balsam bamboo banana bandit banjo bank barbell barber bargain barley
barn barrel basic basket bath beard beaver bed beehive beetle before beggar begin behave behind
believe belt bench between beyond bicycle biology biplane birch biscuit bishop bison blade blanket
blend blimp block blossom blouse blue blush boat bobcat bonfire bonnet book border boulder bounce
box bracket brain branch brass breeze brick brigade bright broad bronze broom broth brown bubble
bucket budget buffalo buggy bugle build bulb bulldog bumpy bundle busy butler button buzzard
cabaret cabbage cabin cable cactus cage calcium calm camel camera camp canal canary candle canvas
canyon capsule captain caramel caravan careful cargo carpet carrot carry cart cascade cashew catch
catfish cavern cedar celery cello cement chain chalk change channel chapter charm cheer cheese
cherry chess chew chicken chimney chop chuckle church cinema circle citrus city classic clay clerk
cliff climate close cloud clover club cluster coach coast cobbler cobra cocoa coconut coffee coin
collage collect combine comedy comet comfort compass compost concert console contest convoy copper
copycat corner cottage cotton cougar country courage cow crab crackle cradle crater crawl crayon
cream cricket crimson crisp critic crocus cross crouton crumble crust crystal cube cupcake curfew
curious curly curve custard custom cycle cyclone daisy dance daring dash decide decimal deck
delight deliver delta deputy detail diagram dialect diamond digital dinner diploma disco display
distant doctor dog dollar domino donkey door dove dragon drama drawer dress drift drill drizzle
drum dry duchess dugout dune dust dwarf dynamo eager eagle earth east echo eclipse edge editor egg
elastic elbow elder elegant elk embassy emblem emerald emotion emperor empire enamel energy engine
enigma enough enter envoy episode equator escape escort estate etching evening every exactly
except exhibit expand expert explore express fabric face factory fajita falcon family famous fan
farmer father fence fetch fiction fiddle fidget field fig film filter finance finch finger fire
first fitness fixture flag flame flannel flask fleece flicker flint float flood fluffy flute
flutter foam focus follow forest forget formula fortune fossil freckle freezer freight fresh
friday friend fritter frog frolic frost fudge funnel furnace fusion future fuzzy gadget galaxy
gallery gallon gambit garden garland garlic garnet gazebo gazelle general gentle giant giddy gift
giggle gimmick ginkgo giraffe girl glacier glass glide glimmer globe goggles gold gondola goose
gopher gospel gossip grand granite graph gravel gravity gravy green griddle grocery grove guitar
guppy gutter gymnast habit haircut halibut hamlet hammer hammock hamster hand happy harp harvest
hat hawk hazel headset heather heavy helium helmet helpful hen hermit heron hexagon hickory
highway hiking hill hinge hippo history hobby holiday honest honey hood horizon hostess hotdog
hotel house hover humble hummus hungry hunter hurdle husky hydrant ice igloo igneous imagine
imprint index indigo infant ink insect inside instant instead intern invent invite invoice iris
iron isotope item ivory ivy jacket jackpot jade jaguar janitor jasmine jazz jelly jersey jet
jigsaw jockey joke journal joyful jubilee juggler juice july jump jungle juniper justice karate
kennel kickoff kimono kindred kinetic king kitchen kite kiwi koala ladder lady lagoon lake lantern
laptop large laugh laundry lava lawn leaflet lectern legend lemon lemur leopard letter lettuce
liberty library likely lily limit linen liquid list lithium little lizard lobster local lodge
logic longing lounge lovely lozenge lucky lullaby lumber lunch luxury lyric machine magic magma
magnet magpie majesty major mammoth mango mansion maple marble marlin mascot mattock maximum
meadow measure melody melon memory menu meteor metro midday mighty milk minnow minute mirror
mitten mixer model modern modest molar monday month mosaic moss mother movie muffin mug museum
music myth nacho napkin nature nearly nebula nectar needle neon nephew nest never nickel niece
nimbus noble noisy nomad normal north notice novel nugget nutmeg nylon oasis oblong oboe ocean odd
office oilcan olive onion opal opera oracle orange orbit orchid organ otter outfit oven oxygen
ozone paddle paint palace panda papaya paper parcel parent park party pasta pastry patio patrol
peanut pebble pencil pepper period person piano pick picnic pigeon pillow pilot pine piston pixel
pizza plaid planet plank plaza pocket podium poem police polish polka pollen pond poppy porch
potato powder pretty prism prize proper proud prune pueblo pulley pulsar puma pumice puppet purple
purse push puzzle python quail quarry queen quest quiz radar radio radish raft rail raisin ranger
rare rascal ravine razor ready recipe record reef refuge region relay relish remedy rental repeat
reply rescue result retina return ribbon rich ride ripple ritual river robin robot robust rodeo
rope royal rubber ruby ruler runway rural rustic safari safety salad salami salon salty salute
sandy sauna scarf scout screen screw script seat second secret sedan seesaw senior sequel sesame
shadow sheep shelf shiny shirt shovel shower shrimp shrub signal silent silver simple single
sister sitcom skate sketch skin sky slalom sled sleepy sleeve slogan slope small smart smile
smooth snack snail sneeze snow soccer social soda soft soil solid solo solve sonar sonata song
sorbet soup south spear spice spider spiral splash sponge spoon spring sprout spruce squash squeak
squid stable stage stand statue steady steam stereo stitch stone storm strong studio suburb subway
sugar sultan summer summit sunset survey swamp swan swift swim swivel system taco talcum talent
tandem target tartan tassel tasty teapot tempo tennis thorax thread throat tidbit tidy timber
tinsel today tomato tooth topaz topic total toward town toy track treaty tremor trot trusty tulip
tuna tundra tunic turkey turnip turret turtle tutor tuxedo twelve twenty twig twist typist uncle
unique unison until upper upward urchin useful usual utopia vacuum valley vault velvet vendor verb
video vinyl viola violet violin virtue vision visor vivid volume voyage waffle wagon waiter walnut
walrus warm wasp wavy weekly whimsy wicker wigwam window windy within wolf wombat wooden yard year
yellow zebra zenith zigzag zipper zodiac zoom
""".split()


def password(language: str = "en") -> tuple[str, ...]:
    """Return random words; the password is their concatenation in lower case (WPA: 8 to 63).

    The words are English. In another language there are five groups of three digits instead, with
    the same strength (49.8 bits), which every voice can say.
    """
    if language != "en":
        return tuple(f"{secrets.randbelow(1000):03}" for _ in range(COUNT))
    return tuple(secrets.choice(WORDS) for _ in range(COUNT))
