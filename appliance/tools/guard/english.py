"""The English patterns of the guard. Data only; lexicon.py explains the form."""

from __future__ import annotations

from appliance.tools.guard.english_words import JOINS, ROWS
from appliance.tools.guard.lexicon import Language, lines

_WAY = r"(?:in|inside|out|outside|through|up|into|past|upstairs|indoors)"
# Whom one lets in: up to five words, none of them a verb or a device.
_ANYBODY = (
    r"(?:(?!play|run|clean\b|cleaning|charg|cook|dry|cool|finish|stay|sleep|rest|burn|glow|shin|"
    r"music|radio|tv|heating|heater|robot|vacuum|wash|dish|fan|lamp|know|hear|see|down)\w+ ){1,5}?"
)
_PARTS = {
    "let": rf"(?:let|lets|letting|allow) (?:{_ANYBODY}{_WAY}|in|out)",
    "closed": r"(?:locked|shut|closed|armed|bolted|latched|barred|secured)",
    "visitor": (
        r"(?:him|her|them|us|me|em|(?:(?:the|my|our|a) )?(?:\w+ )?(?:mum|mom|dad|grandma|"
        r"grandpa|guests?|visitors?|courier|postman|mailman|plumber|cleaner|nurse|delivery|"
        r"driver|man|woman|lady|guys?|friends?|neighbou?rs?|kids|children|cats?|dogs?|puppy|"
        r"kitten|boys?|girls?|gran|granny|brother|sister|people|electrician|engineer|handyman|"
        r"sitter|babysitter))"
    ),
    "media": (
        r"(?:movies?|films?|songs?|music|albums?|podcasts?|episodes?|series|playlists?|"
        r"videos?|jazz|audiobooks?|radio|news|tracks?|trailers?|documentary|soundtrack|show)"
    ),
    "lists": r"(?:list|lists|wishlist|calendar|cart|basket|notes?|agenda|diary|reminders?)",
}

ENGLISH = Language(
    rows=ROWS,
    joins=JOINS,
    polite=lines(
        r"""
        (?:hey|ok|okay|hi|hello|so|well|um|uh|oh|yes|yeah|alexa|computer|please|pls|just|now|also|
            kindly|quick|quickly|maybe|perhaps|go ahead|be sure to|feel free to|let s|lets)(?= )
        (?:would|do) you mind|would you be so (?:kind|good|nice)(?: as to)?
        (?:can|could|would|will|won t|can t|couldn t|wouldn t) (?:you|we|i|someone|
            somebody)(?: not)?
        be so (?:kind|good)(?: as to)?|why don t (?:you|we)|why not
        i (?:want|need|d like|would like) you to|you (?:can|could|may|should|must|need to|have to)
        (?:don t|do not|never) forget to|(?:any|is there any) chance (?:that )?you (?:can|could)
        i (?:want|need|d like|would like) to(?! know)|(?:it s|its) time to
        """
    ),
    topics=lines(
        r"""
        (?:play|plays|watch|listen|shuffle|queue|sing|rewind|replay) ?(?!.*\bopener)
        (?:put on|start|begin|resume|find|turn on|switch on|stop|pause|unpause|show me) (?:(?!cam|
            alarm|door|gate|garage|lock|siren|window|blind|shutter|curtain|sensor|motion|record|
            valve|water|gas|open|monitor|security)\w+ )*?<media>
        (?:put|stick|bung|whack) on (?!(?:the|my|our|a|an)\b)(?!.*\b(?:opener|release|buzzer)\b)
        (?:put|stick|bung|whack) .* on the (?:telly|tv|television|stereo|projector)$
        tell (?:me|us)|show (?:me|us)(?! in)
        (?:add|put|write|pop|stick|take|remove|delete|cross) .*\b<lists>|(?:make|take) a note|note
        jot|buy|purchase|reorder|remind|schedule a reminder|set (?:a|the|me a|up a) reminder
        (?:say|announce|broadcast|read|recite|spell|translate|define|explain|describe|search|google|
            look up|navigate|directions|text|message|email|calculate|convert|summari[sz]e|sum up|
            quote|recommend|compare|count|wake|snooze|notify|alert|inform|warn)
        what (?:does|do|did) .*\bmean
        what s? ?(?:is )?the \w+ (?:word|translation|meaning|definition|capital|plural|difference)
        how (?:do|would|should) (?:you|i|we) (?:say|spell|pronounce|write|clean|paint|repair|fix|
            draw)
        how do you|(?:who|whose) (?:wrote|sang|sings|invented|directed|plays|played|painted|
            composed)
        let (?:me|us) (?:know|hear|see|listen)|list (?:all|the|my|every)
        find (?:me )?(?:a|an|the nearest|the closest|some)|book|order
        call (?!(?:the |my |our )?(?:\w+ )*?(?:gate|garage|door|opener|lock|buzzer|intercom)s?$)
        set (?:the|an|my|a|our) (?:new |burglar |house |home |security |intruder )?(?:alarm|
            alarm system)$
        (?:heat|warm(?: up)?|cool|vacuum|hoover|mop|sweep|clean|dust|dim|brighten|illuminate|charge|
            preheat) (?!.*\b(?:open|unlock|raise))
        let s (?:play|talk|sing|watch)
        """,
        **_PARTS,
    ),
    past=lines(
        r"""
        did|didn t|who \w+ed
        (?:when|where|why|who|how (?:often|long|much|many(?: \w+)?)) (?:did|was|were|has|had)
        """
    ),
    carry=lines(
        r"""
        remind|tell (?:me|us)|let (?:me|us) know|notify|alert|inform|warn|text me|message me
        (?:make|take) a note|note|say|announce|broadcast|give me
        """
    ),
    asks=lines(
        r"""
        (?:is|are|was|were|isn t|aren t|has|hasn t|does|doesn t|am|had|s)
        do (?:i|we|they|any|the \w+s (?:open|close|shut|have|need|work|sell|know|go))
        have (?:i|we|you|they|he|she|the \w+ been|any|all)
        (?:what|which|who|whose|where|when|why|how)(?: \w+){0,3}? (?:is|are|was|were|did|does|do|
            has|have|had|s|will|can|could|should|would|am)
        who|whose|what (?!about|if)
        how (?!about)(?:many|much|long|often|warm|hot|cold|far|old|tall)|which|whether
        (?:double )?(?:check|verify|confirm) (?:if|whether|on|how|for|what|which|who|that|the|all|
            every|my|our)
        (?:see|find out|look) (?:if|whether|how|what|which|who)|(?:status|state|battery|level) of
        (?:set|start|cancel|stop|pause|resume) (?:a|an|the|my|another) (?:\w+ ){0,2}timer
        (?:it s|it is|i m|we re) (?:\w+ )?(?:dark|cold|hot|warm|cool|loud|noisy|bright|windy|chilly|
            freezing) (?:at|in|by|near|on|around) (?:the )?(?:\w+ )?\w+$
        (?:(?:the|my|our|front|back|side|garage|door|gate|lock|alarm|window|windows|blind|blinds|
            shutter|shutters|system|cover|house|camera) ){1,5}(?:status|state)$
        (?:any idea|do you know|i wonder|i (?:want|need|d like|would like) to know|i m asking)
        """
    ),
    hints=lines(
        r"""
        (?:isn t it|about|high) (?:about |high )?time
        why (?:is|are|was|were|has|have|isn|aren|hasn|haven) (?:\w+ ){0,8}?(?:shut|closed|locked|
            bolted|barred|armed|lowered|down)
        why (?:isn|aren|hasn|haven|didn|is|are|has|have|did) (?:\w+ ){0,8}?(?:t|not|yet)
            (?: \w+){0,6}? (?:open|opened|unlocked|disarmed|raised|up)
        (?:needn t|shouldn t|mustn t|(?:need|should|must|ought to) not|(?:don|doesn) t (?:need|
            have|want|like)|(?:do|does) not (?:need|have|want|like)|no need|no reason|(?:none|
            neither|nothing|no) (?:\w+ ){0,5}?(?:should|needs?|must|has|have)) (?:\w+ ){0,6}?
            <closed>
        (?:prefer|rather|wish|like|want) (?:\w+ ){0,8}?(?:not|t) (?:\w+ )?<closed>
        ^(?:if|that) .*\b(?:weren|wasn) t (?:\w+ )?<closed>
        out of (?:action|service|commission|operation)
        (?:upper|top|open) (?:end|limit|stop)|to (?:get|have) (?:\w+ ){1,4}?(?:open|opened|unlocked|
            disarmed|raised)
        """,
        **_PARTS,
    ),
    corrections=lines(
        r"""
        (?:no|oh|oops|sorry|actually) (?:wait|no)|wait (?:no|not)|scratch that|i meant?|or rather
        correction|other way (?:round|around)|strike that|on second thoughts?
        """
    ),
    events=lines(
        r"""
        ^(?:if|when|whenever|once) (?:i|we|he|she|they|someone|somebody|anyone|anybody|the \w+|
            my \w+) (?:open|opens|unlock|unlocks|raise|raises)
        """
    ),
    orders=lines(
        r"""
        (?:unlock|unlatch|unbolt|disarm|buzz|bypass)(?! (?:s|ed))
        (?<!been )(?<!is )(?<!are )(?<!was )(?<!left )(?<!still )open (?:it|the|them|up|my|our|all|
            every|this|that|those|these|for|a|an|one)
        (?:to|please|you|we|i|can|could|t|just|and) open
        (?:raise|lift|release) (?:it|the|them|my|our|all|that)
        (?:to|please|you|can|could|and) <let>
        (?<!who )(?<!who s )let (?:him|her|them|us|me) (?:in|out|up|through|inside)
        (?:how|what) about|why don t|why not|^if you|able to|allowed to
        (?:a|any|some) (?:chance|way)|possible|possibility
        (?:you|someone|anyone) (?:opening|unlocking|letting|going to)
        be (?:opened|unlocked|disarmed|raised|lifted)
        (?:can|could) (?:i|we|he|she|they|you) (?:please )?(?:get|come|make|have|put|pull|raise|
            lift)
        (?:okay|ok|possible|allowed|fine|safe) to (?:open|unlock)|opening (?:it|the|them|my|our)
        """,
        **_PARTS,
    ),
    idioms=lines(
        r"""
        <let>
        (?:show|usher|wave|invite|admit|welcome) (?:\w+ ){1,4}?(?:in|inside|up|upstairs|
            through)(?! (?:the|a|an) (?!door|house|building|garden))
        (?:send|bring|take) <visitor> (?:in|inside|up|upstairs|through)
        get <visitor> (?:in|inside|into)|let (?:\w+ ){1,3}air$|buzz|ring (?:him|her|them|
            us) (?:in|up)
        (?:wants?|needs?|wanna|would like|d like) (?:back )?(?:to (?:come |go |get |be let |head |
            be )?)?(?:in|into|out|inside|outside|indoors)
        (?:has|have|trying|like) to (?:come |go |get |be let |head )(?:in|out|inside|outside)
        (?:can|could|may|let|should) (?:i|we|he|she|they|it|\w+|the \w+) (?:please )?(?:come|get|go|
            step|walk) (?:in|inside|out|outside|through)
        ^(?:come|get|go) (?:in|inside|out|outside)$
        (?:can t|cannot|couldn t|unable to|trying to|able to|need to|want to) (?:get|come|go) (?:in|
            inside|out|outside|through)
        (?:let|give|grant|allow|get|need) (?:\w+ ){0,4}?(?:access|entry|admittance|admission)
        (?:locked|shut) (?:(?:my|our|him|her|them)sel(?:f|ves) |me |us |him |her |them )?out
        (?:stop|end|silence|kill|quit|enough of) (?:\w+ ){0,3}?(?:wailing|howling|blaring|
            racket|din)
        (?:forgot|forgotten|lost|left|without|no|misplaced) (?:\w+ )?keys?
        admit (?:the|him|her|them|my|our)|(?:fresh|some|more) air(?! con)|breeze
        air (?:out|the|it|this|that)|ventilate|stuffy|daylight|sunlight|sunshine|moonlight|draught
        cross breeze|(?:let|get|want|need|love|like) (?:\w+ ){0,4}?sun
        (?:fill|run|draw|top up) (?:the|a|my|me a) (?:\w+ )?(?:pool|bath|bathtub|tub|hot tub|
            basin|sink|
            pond)
        (?:stop|quit|no more|pause|end) (?:\w+ ){0,3}?(?:from )?(?:recording|filming)s?
        let (?:some |the |more )?light (?:in|inside)|airing|pretend\w*|stand down
        (?:leave|exit|end|quit|stop|cancel|disable|turn off) (?:\w+ )?(?:night|away|stay|armed|
            guard) mode
        (?:t|not|skip|no|stop|without|never|quit|cancel) (?:\w+ )?arm(?:ing)?
        ^(?:it|that|everything|all) s? ?(?:is )?(?:still |all )?(?:locked|shut|bolted)$
        (?:stop|quit|avoid|no|without|keep \w+ from|from) (?:\w+ )?(?:closing|shutting|locking|
            lowering|arming)
        water(?:ing)? (?:the |my |our )?(?:\w+ )?(?:lawn|garden|plants|flowers|grass|beds|yard|
            tomatoes)
        (?:let|allow) (?:\w+ ){1,4}?(?:to )?(?:enter|pass|come (?:in|through)|get in)
        (?:stop|quit|cease|no more) (?:the )?(?:watching|guarding|filming|recording|monitoring|
            surveilling|spying|locking|securing)
        (?:roll|pull|raise|lift|draw|wind|hoist|crank|slide) (?:it|them|all|those|these|everything|
            both) (?:all |fully |right |half |way |the )*(?:up|back|aside|open|apart)
        (?:put|bring) (?:them|all of them|those|these|both) (?:all |fully |right |half |way |
            the )*(?:up|open)
        (?:raise|lift|hoist) (?:it|them|those|these|everything|both)$
        (?:lower|drop|sink|retract) (?:the |those |these |all the )?(?:posts|pillars|drawbridge)
        (?:make|clear) way|(?:stay|leave|keep|prop|hold) (?:it|them|everything) open
        free (?:the|him|her|them) (?:cat|dog|way|path|exit|entrance)
        (?:it s|i m|we re|that s) (?:only|just) (?:me|us)|(?:crack|gap)(?= |$)
        pool fill|(?:omit|skip|exclude|ignore|isolate) (?:the )?zone|answer the (?:door|gate)|
            way in|(?:house|home|system) (?:to|into|in) home(?: mode)?|
            (?:raise|lift) the (?:bar|arm|boom)|
            (?:turn|switch|take) (?:off |down )?(?:the )?away mode(?: off)?
        away mode off|(?:open )?sesame
        (?:exit|leave|out of|off) (?:\w+ )?(?:armed|arming|lockdown)
        """,
        **_PARTS,
    ),
    spared=lines(
        r"""
        (?:crack|tell) (?:me |us )?(?:a|some) jokes?|mind the gap
        (?:bring|pull|roll) the (?:awning|washing|laundry|canopy|sunshade) (?:back )?in
        let (?:me|us|s) (?:know|hear|see|listen|think|play|talk)|let it (?:be|go|snow|rain)
        let there be light
        (?:wake|pick|look|hurry|cheer|sum|back|clean|heat|turn|speed|set|warm|charge|clear|tidy|
            light|bring the (?:lights?|heat\w*|volume|music)) (?:\w+ )?up
        (?:the|a|an|no) (?:generation|credibility|knowledge|data) gap
        (?:get|bring|send) (?:me|us|them) up to
        """
    ),
)
