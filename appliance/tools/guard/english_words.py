"""The English words of the guard, by tag. Data only; lexicon.py explains the form."""

from __future__ import annotations

from appliance.tools.guard.lexicon import Rows, Tag, joins

ROWS: Rows = (
    (
        Tag.DOOR,
        """
        door doors backdoor doorway trapdoor trapdoors gate gates garage garages shutter
        shutters rollers blind blinds shade shades curtain curtains drape drapes flap flaps catflap
        dogflap vent vents vault vaults locker lockers cabinet cabinets drawer drawers barrier boom
        barriers
        turnstile lid lids trunk tailgate bonnet_ skylight skylights dome entrance entrances
        pergola partition portcullis louvre louvres louver louvers slats shading blackout grille
        grilles venetians sash screens porthole dormer sunscreen
        """,
    ),
    (
        Tag.WINDOW,
        """
        window windows hatch hatches sunroof roof roofs pane panes casement velux windshield
        poolcover
        """,
    ),
    (Tag.BOLLARD, "bollard bollards drawbridge"),
    (Tag.AWNING, "awning awnings canopy sunshade sunshades marquee parasol"),
    (
        Tag.VALVE,
        """
        drain drip valve valves tap taps faucet faucets stopcock stopcocks hydrant spigot hose
        sprinkler sprinklers irrigation water gas mains standpipe propane butane lpg
        """,
    ),
    (
        Tag.LOCK,
        """
        snib maglock maglocks padlock padlocks deadbolt deadbolts latches smartlock
        locks bolts lock bolt latch deadlock hasp dead_bolt
        """,
    ),
    (
        Tag.OPENER,
        """
        buzzer buzzers strike opener openers release access admittance passage
        """,
    ),
    (
        Tag.ALARM,
        """
        alarm alarms alarm* burglar security intruder detector detectors detection sensor
        sensors camera cameras cam cams cctv doorcam webcam surveillance monitoring childlock
        autolock chain chains protection armed presence perimeter tamper motion nanny lockdown
        sentry simulation panic fence tripwire geofence babymonitor pir watchdog guard
        """,
    ),
    (Tag.SIREN, "siren sirens klaxon klaxons horn horns hooter sounder sounders"),
    (
        Tag.OPEN,
        """
        open opens opened opening reopen opn ope opne oepn openn ajar uncover expose
        unroll unveil unseal
        """,
    ),
    (
        Tag.UNLOCK,
        """
        unlock* unlatch* unbolt* unbar* unchain* unfasten* unhook* disarm* unarm unset
        bypass* override unlocked unsecure* buzzing sesame defuse
        """,
    ),
    (
        Tag.CLOSE,
        """
        locking
        close closes closed closing shut shuts shutting locked locking relock relocks
        bolted latched secure secures secured fasten fastened seal sealed engage relatch
        """,
    ),
    (Tag.FASTEN, "lock bolt latch deadlock deadbolt padlock"),
    (Tag.LOWER, "lower lowers lowered down drop"),
    (Tag.RAISE, "raise raises raised lift lifts lifted up upward upwards hoist heighten"),
    (Tag.UNSURE, "disable disables deactivate deactivates raise lift hoist"),
    (Tag.RETRACT, "retract retracts retracted"),
    (Tag.STOP, "stop stops halt pause freeze"),
    (
        Tag.ARM,
        """
        record
        arm arming armed engage rearm activate activates enable enables reactivate
        reenable away stay night start restart resume
        """,
    ),
    (Tag.ON, "on"),
    (
        Tag.OFF,
        """
        off disable disables disabled deactivate deactivates deactivated silence mute kill
        unplug stop end cancel quiet disconnect quit pause privacy private
        """,
    ),
    (
        Tag.SHOW,
        """
        show view display see stream photo photos picture pictures snapshot zoom rotate
        pan
        """,
    ),
    (
        Tag.DEVICE,
        """
        treble mood
        light lights lamp lamps bulb bulbs lighting lightbulb nightlight spotlight floodlight
        floodlights spotlights led leds lantern heating heater heaters heat radiator radiators
        thermostat temperature humidity brightness radio stereo speaker speakers music tv telly
        television fan fans ventilator vacuum hoover robot mower roomba socket sockets plug
        plugs outlet charger dishwasher washer dryer freezer fridge kettle boiler purifier
        humidifier dehumidifier conditioner conditioning ac projector printer doorbell bell
        chime battery batteries volume bass jazz pump fountain scene scenes ambience candle
        candles tree station price prices bill meter mileage cleaner
        """,
    ),
    (
        Tag.HARMLESS,
        """
        app apps list lists file files folder folders invoice invoices song songs album albums
        playlist playlists podcast podcasts movie movies film films photo photos picture
        pictures image images gallery video videos page pages tab tabs website site browser
        email emails mail mails inbox message messages chat note notes calendar document
        documents spreadsheet presentation pdf recipe recipes book books ebook audiobook chapter
        episode episodes game games map maps news article weather forecast settings menu
        dashboard result results link account profile contacts contact appointments agenda
        schedule diary joke story stories question source hours discussion poll survey
        conversation program programme channel stream library reminder reminders calculator
        guide stopwatch compass torch flashlight translator player spotify netflix youtube
        whatsapp telegram signal tiktok instagram facebook twitter gmail chrome firefox safari
        edge zoom teams slack discord twitch disney hulu prime plex kodi jellyfin duolingo
        wikipedia google amazon ebay reddit pinterest snapchat linkedin outlook excel powerpoint
        iplayer bbc audible kindle steam minecraft deezer tidal tunein soundcloud shazam alexa
        siri paypal waze strava tinder itunes imdb letterboxd phone smartphone computer laptop
        tablet ipad iphone pc wifi achievement bitwarden mind homekit grafana mediathek blinkist
        goodreads manual manuals instructions notifications notification shuffle bluetooth
        updates subtitles secret secrets
        """,
    ),
    (
        Tag.TIME,
        """
        am pm clock o oclock morning tomorrow noon midnight wake snooze timer half
        quarter past one two three four five six seven eight nine ten eleven twelve
        thirty fifteen weekday weekdays monday tuesday wednesday thursday friday
        saturday sunday sunrise
        """,
    ),
    (
        Tag.NOT,
        """
        forget
        not never without no nobody isnt dont arent cant wont prevent prevents undo
        reverse cancel skip delay avoid unless from instead nor neither forgot
        """,
    ),
    (
        Tag.PLACE,
        """
        in at by near on above over below under beside behind inside outside around
        along against between of to into from towards beneath opposite across within
        """,
    ),
    (
        Tag.ARTICLE,
        """
        the a an my our your his her their this that these those all every both each any
        another some front back side rear other main big small old new kitchen bedroom
        bathroom cellar basement attic garden patio balcony terrace upstairs downstairs
        living dining guest office hall driveway
        """,
    ),
    (Tag.POSITION, "percent halfway halfways half position third midway partially partly"),
    (Tag.ZERO, "0 zero"),
    (Tag.STATE, "is are was were s isn aren stays remains got gets"),
    (
        Tag.WISH,
        """
        sure ensure check want wants should must need needs supposed keep stay remain
        double make confirm verify leave get have
        """,
    ),
    (
        Tag.NEUTRAL,
        """
        please now again too also just right away today tonight immediately already still
        properly quickly fully completely all for upstairs downstairs
        """,
    ),
)
JOINS = joins(
    r"""
    (?:child|baby|kids?|safety|parental)(?: safety| proof)? locks?|child (?:safety|
        proofing) -> childlock
    (?:oven|stove|hob|cooker|key|keypad|button|panel|dishwasher|washer|
        keyboard) locks? -> childlock
    baby (?:monitor|cam|phone)s? -> babymonitor
    (?:camera|lens) (?:shutter|cover)s? -> camera
    camera roll -> photos
    (?:loft|attic|roof) (?:ladder|stairs|steps)|attic door -> hatch
    take down -> remove
    parking (?:posts?|locks?) -> bollard
    water (?:level|pressure|bill|bottle) -> level
    (?:fly|mosquito|insect|projector|bug) screens? -> blind
    (?:put|take|fold) the (?:top|roof|hood) down -> open the roof
    night watch|(?:protect|protection|alert) mode|off alert -> guard
    open up about -> talk about
    (?:last|next|first|final|bonus|hardest|hidden) levels? -> game
    (position (?:\w+ ){1,6})cover -> \1poolcover
    cover (position|to|off)(?= ?$| [^o]) -> poolcover \1
    (?:mail|letter|parcel|post|cash) box -> mailbox
    auto(?:matic)? lock(?:s|ing)? -> autolock
    un lock -> unlock
    un latch -> unlatch
    dis arm -> disarm
    de activate -> deactivate
    tail gate -> tailgate
    blinders -> blinds
    lock screen -> phone
    alarm clocks? -> clock
    (?:pool|tub|spa|jacuzzi|grill|boat|sandpit|cellar) (?:cover|lid|roof)s? -> poolcover
    cover (?:back )?(?:on|of|over|off|off of|from) the (?:hot )?(?:pool|tub|spa|
        jacuzzi) -> poolcover
    ((?:the|my|our|a|gun|wall|floor|home|hotel) )safe(?! (?:and sound|place|
        distance|side|bet|option|for (?:kids|work|children))) -> \1vault
    (crack|open|unlock|lock|close) safe -> \1 vault
    (?:the|my) (?:car )?boot|car boot -> trunk
    (?:car|engine) hood -> trunk
    (?:roof|sky) lights? -> skylight
    hot water -> boiler
    opening (?:hours?|times?|night|day|ceremony|act|line|scene|credits) -> hours
    open (?:source|ended|minded|air|mic|season|hours|day) -> hours
    an open (?:mind|question|discussion|book) -> question
    false alarms? -> alarm
    (?:fire|screen|revolving) door -> door
    windows (?:pc|computer|laptop|update|10|11) -> computer
    (?:browser|chrome|firefox|app|new|incognito|private) (?:window|tab)s? -> tab
    (?:door|window|gate|garage|reed) contacts? -> sensor
    to ?do list -> list
    put (?:the|a) (?:bolt|latch|chain|deadbolt|lock)s? (?:on|across) -> lock it
    (?:roll|wind|pull|bring|take) in (the (?:awning|canopy|sunshade)s?) -> retract \1
    (?:roll|wind|pull|bring|take) (the (?:awning|canopy|sunshade)s?) (?:back )?in -> retract \1
    glass ?break(?:age)? -> sensor
    (?:guard|watch|sentry|patrol|lockdown) mode -> sentry
    next to -> beside
    half past -> past
    (\d+) ?(?:am|pm) -> \1 oclock
    (?:o clock) -> oclock
    """
)
