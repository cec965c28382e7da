# The box's own sentences, spoken and shown, in English. Every key is added to this file first.
# How to add a language: docs/languages.md. The program fills in the words in braces.

## The language itself

# The language's own name, for lists in which a language is chosen.
language-name = English
# The model's persona (system prompt), unless the owner has written one.
persona = You are Interlude, a voice in a small box. The user speaks to you, and what you answer is read aloud. Answer in short spoken sentences, in plain words without lists or symbols.
# Appended to the persona if the box answers in the language that is spoken to it.
persona-any-language = Always answer in the language that the user speaks.
# Appended to the persona if the owner has chosen a language; $language: its name.
persona-one-language = Always answer in { $language }.
# Follows the sound of a question in the prompt.
instruction = Respond to the audio concisely.

## Words that are said while the box talks. Lower case, separated by commas.

words-yield = wait, stop, no, hold on, hang on, excuse me, but, actually, be quiet, shut up, never mind
words-carry-on = mm-hm, mhm, uh-huh, yes, yeah, okay, right, sure, i see, wow, great
words-refuse = no, nope, no way, don't, do not, stop, cancel, never, never mind, forget it, leave it, not
words-agree = yes, yeah, yep, yes please, okay, ok, sure, do it, go ahead, confirm, confirmed, please do
words-stop = stop, be quiet, shut up, never mind
words-repeat = pardon, sorry, say again, say that again, what did you say

## Frequent words that identify the language of a typed question. Lower case, separated by commas.

common-words = the, a, an, is, are, am, i, you, he, she, it, we, they, my, your, of, to, and, or, not,
    what, when, how, who, why, where, which, please, for, with, from, about, do, does, did, can,
    could, would, should, will, have, has, been, this, that, there, tell, me, on, at, in, be, set

## Numbers, clocks and days. If a list is empty or too short, digits are said.

# 0 to 59, separated by commas. Higher numbers are said as digits.
number-words = zero, one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve,
    thirteen, fourteen, fifteen, sixteen, seventeen, eighteen, nineteen, twenty, twenty-one,
    twenty-two, twenty-three, twenty-four, twenty-five, twenty-six, twenty-seven, twenty-eight,
    twenty-nine, thirty, thirty-one, thirty-two, thirty-three, thirty-four, thirty-five,
    thirty-six, thirty-seven, thirty-eight, thirty-nine, forty, forty-one, forty-two, forty-three,
    forty-four, forty-five, forty-six, forty-seven, forty-eight, forty-nine, fifty, fifty-one,
    fifty-two, fifty-three, fifty-four, fifty-five, fifty-six, fifty-seven, fifty-eight, fifty-nine
# The days of a month, first to thirty-first.
day-words = first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth, eleventh,
    twelfth, thirteenth, fourteenth, fifteenth, sixteenth, seventeenth, eighteenth, nineteenth,
    twentieth, twenty-first, twenty-second, twenty-third, twenty-fourth, twenty-fifth,
    twenty-sixth, twenty-seventh, twenty-eighth, twenty-ninth, thirtieth, thirty-first
weekday-words = Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday
month-words = January, February, March, April, May, June, July, August, September, October,
    November, December

# A time of day. $minute: 0 to 59, $hour24: 0 to 23. In words: $hour, 0 to 23; $hour12, 1 to 12;
# $next12, the hour after it; $minutes, and the same as $past; $to, the minutes until the next hour.
# $side: to, in the second half of an hour; else past.
clock = { $minute ->
    [0] { $hour12 } o'clock
    [1] { $past } minute past { $hour12 }
    [5] { $past } past { $hour12 }
    [10] { $past } past { $hour12 }
    [15] a quarter past { $hour12 }
    [20] { $past } past { $hour12 }
    [25] { $past } past { $hour12 }
    [30] half past { $hour12 }
    [35] { $to } to { $next12 }
    [40] { $to } to { $next12 }
    [45] a quarter to { $next12 }
    [50] { $to } to { $next12 }
    [55] { $to } to { $next12 }
    [59] { $to } minute to { $next12 }
   *[other] { $side ->
        [to] { $to } minutes to { $next12 }
       *[past] { $past } minutes past { $hour12 }
    }
}
# A time of day that names its part of the day.
clock-of-day = { $clock } { $part ->
    [morning] in the morning
    [afternoon] in the afternoon
    [evening] in the evening
   *[night] at night
}
date = { $weekday }, the { $day } of { $month }
# When an alarm rings: today, tomorrow, or on a day of the week.
when = { $day ->
    [today] { $clock }
    [tomorrow] tomorrow at { $clock }
   *[later] { $weekday } at { $clock }
}

# In a number with a fraction, such as 3.4 GB.
decimal-sign = .

# Lengths of time; $count selects the variant, $words is the number as it is said.
length-hours = { $count ->
    [one] { $words } hour
   *[other] { $words } hours
}
length-minutes = { $count ->
    [one] { $words } minute
   *[other] { $words } minutes
}
length-seconds = { $count ->
    [one] { $words } second
   *[other] { $words } seconds
}
length-minute-and-a-half = one and a half minutes
length-none = no time
# Between the hours and the minutes.
length-joined = { $first } and { $second }

## Answers of tools

tool-unknown = I cannot do that.
tool-unclear = I did not get that right. Please say it again.
tool-time = It is { $clock }.
tool-date = It is { $date }.
# A sentence about a timer that has a name.
timer-named = { $name }: { $text }
timer-range = A timer can be anything from one second to a day.
timers-full = I have { $count } of them already. Cancel one first.
timer-set = { $length }, from now.
alarm-unclear = I did not get the time for that alarm. Please say it again.
alarm-set = the alarm is set for { $when }.
timers-none = There is no timer and no alarm.
timer-left = { $length } left.
alarm-waits = an alarm for { $when }.
timer-stopped = All right.
timer-not-found = There is no timer called { $name }.
timer-none = There is no timer.
timer-off = { $kind ->
    [alarm] the alarm is off.
   *[timer] the timer is off.
}
volume-set = Like this.
volume-up = Louder.
volume-down = Softer.
volume-most = I cannot speak any louder.
volume-least = I cannot speak any softer.
nothing-said = I have not said anything yet.
forget-all-again = That is all we ever said. Ask me once more to forget everything, and I will.
house-none = I am not connected to the house.
house-away = I cannot reach the house just now.
house-enough = That is enough for one answer.
house-opens = That may open something: { $command }. Press my button and ask me once more, in the same words, and I will.
house-touches = That is about { $name }. Press my button and ask me once more, in the same words, and I will.
house-press-again = I must be sure that it is you. Press my button and ask me once more.
house-left = Then it stays as it is.
house-press-first = That may open something. Press my button first, and then ask me.
house-silent = The house does not answer.
house-done = Done.
house-not-done = The house did not do that.
alarm-rings = It is { $clock }. Your alarm.
alarm-rings-named = It is { $clock }: { $name }.
timer-rings = Your timer is done: { $name }.
alarm-missed = While I was off, your alarm was due at { $clock }.
alarm-missed-named = While I was off, your alarm, { $name }, was due at { $clock }.
timer-missed = While I was off, your timer ran out at { $clock }.
timer-missed-named = While I was off, your timer, { $name }, ran out at { $clock }.
timers-missed = While I was off, { $count } timers ran out.

## Excuses and announcements

not-ready = I'm getting my thoughts together. Ask me again in a moment.
lost-thread = Sorry, I lost my thread. Please ask me again.
lost-voice = Sorry, I lost my voice for a moment. Please ask me again.
nothing-to-say = I have nothing to say to that.
no-button = I have no button, so I cannot be talked to with one.
part-broken = Something is wrong with me: { $part } does not work.
part-microphone = the microphone
part-loudspeaker = the loudspeaker
part-capture = my capture
part-playback = my playback
part-listener = my listener
part-conductor = my conversation
forgotten-all = I have forgotten everything.
forgotten-last = I have forgotten that.
forgotten-late = What I could not forget before is forgotten now.
forget-failed = I could not forget it. My card cannot be written, and the words are still on it. I will not use them, and I will try again. If I still cannot, the card has to be replaced.
forget-slow = My card is slow. I will tell you when it is forgotten.
memory-damaged = My memory was damaged. I have begun a new one.
mute-not-read = I could not read whether my microphone was off, so I leave it off. Please switch it on again if you want me to hear you.
mute-off-not-kept = { $after ->
    [power-cut] My microphone is off, but I could not store that: after a power cut it may be on again.
   *[restart] My microphone is off, but I could not store that: after a restart it may be on again.
}
mute-on-not-kept = My microphone is on, but I could not store that: it may be off after a restart.

## A model server

server-away = My model server does not answer.
server-refused = My model server refused. Interlude check says why.
server-thinks = My model server thinks instead of answering. Switch its thinking off.
server-without-audio = My model server takes no sound. It needs another model.
server-key = My model server refuses my key.
server-address = My model server does not know that address or model.
server-busy = My model server is too busy. Please ask me later.
server-context = What we said is too long for my model server.
server-no-tools = The model on my model server cannot use tools.
server-no-model = My model server does not know that model.

## A start

settings-before = My settings file cannot be used. I go on with the settings from before.
settings-defaults = My settings file cannot be used. I start without it, and with the microphone off. Correct the file, restart me, and switch the microphone on.
settings-ignored = I found a second settings file in my state folder. I do not use it. If you do not know it, look at my log.
release-left = Version { $left } did not stay up, so I went back to version { $kept }.
releases-both-left = Neither of the versions { $tried } stayed up.
release-kept-unwell = Version { $version } failed its check three times. I kept it all the same, because it closes a security hole.
system-left = I went back from the system { $left } to the system { $now }.
reset-done = I have been reset. What we said, your voice, and your timers are gone.
reset-incomplete = I was reset, but not everything could be deleted. My log says what is left. I will try again when I am restarted. If it stays like that, destroy or replace the card.
reset-failed = I could not be reset: my card cannot be written, and what we said is still on it. Restart me and try once more. If it stays like that, destroy or replace the card.
reset-card-incomplete = Not everything could be deleted from this card. Do not give it away.

## Download of the large model

model-fetching = I am fetching my large model, { $size }. Until it is here I know only a little.
model-away = I cannot fetch my large model now. I will go on trying.
model-full = My card has no room for my large model, { $size }. I will go on trying.
model-card = I cannot write my large model to my card. I will go on trying.
model-found = I have found my model on the stick. Leave it in while I copy it.
model-part = The stick has only a part of my model.
model-part-lacks = { $count ->
    [one] The stick has only a part of my model. { $files } is not all there.
   *[other] The stick has only a part of my model. { $files } are not all there.
}
model-bad = The model on the stick cannot be used: its files are not what their names say.
model-here = My large model is here. I restart with it; give me a minute.
model-by-stick = My model comes on a USB stick. Plug it in while I run.
# Between the last two of several names.
and = { $first } and { $last }

## Set-up

setup-asked = I am ready to be set up.
setup-no-network = I have no network.
setup-needs-cable = I have no network. Plug in a network cable.
setup-needs-seed = Nobody has set me up yet. Switch me off, and put a file named interlude dot yaml on my card.
setup-file-misnamed = The file { $name } on the card is not read. Put what it says into interlude.yaml.
setup-card-unusable = The set-up file on this card cannot be used. { $problem }
setup-by-cable = I am on your network by cable.
setup-called = My name there is { $name }.
setup-other-name = Another machine on your network is called { $wanted }, too. My name there is { $name }.
# The box's own Wi-Fi: four digits said one by one, a password said word by word. The words are
# English; other languages use a password of digits.
setup-join = { $kind ->
    [words] To set me up with a phone, join the Wi-Fi named Interlude { $number }. Its password is five words, typed as one, in small letters, without spaces. They are: { $words }. Then open { $address } in the browser, if no page opens by itself.
   *[digits] To set me up with a phone, join the Wi-Fi named Interlude { $number }. Its password is fifteen digits: { $words }. Then open { $address } in the browser, if no page opens by itself.
}
setup-no-wifi-of-my-own = I cannot open a Wi-Fi of my own. { $problem }
setup-in-a-network = I am on a network now. Set-up is over.
setup-in-your-wifi = I am on your Wi-Fi now. Set-up is over.
setup-wifi-as-before = I am on the Wi-Fi that I had before. Set-up is over.
setup-joining = Thank you. I am joining your network.
setup-unconfirmed = This Wi-Fi is not confirmed yet: until you confirm it on my page, I keep the previous one, too, and do not connect to Home Assistant.
setup-done = I am on your network, and set up.
# Signs in host names, as they are said.
sign-dot = dot
sign-dash = dash

wifi-password = The Wi-Fi { $wifi } does not accept the password that I have.
wifi-out-of-reach = The Wi-Fi { $wifi } is out of range.
wifi-sent-away = The Wi-Fi { $wifi } rejects me: its password may have changed, or it accepts no new devices.
wifi-too-long = The Wi-Fi { $wifi } does not answer in time: it is far away, or its password has changed.
wifi-no-address = The Wi-Fi { $wifi } lets me in, but gives me no address.
wifi-timeout = The Wi-Fi { $wifi } takes too long to let me in.
wifi-none = No Wi-Fi has been set up.
wifi-otherwise = I cannot join the Wi-Fi { $wifi }.

## The page of a box in set-up

setup-identify = Here I am. A phone nearby has asked for me.
setup-page-title = Set up this box
setup-page-more = More settings
setup-page-wifi = Your Wi-Fi
setup-page-password = Its password
setup-page-country = Country, as two letters (DE, GB, US)
setup-page-hostname = A name for this box on your network (may stay empty)
setup-page-card = Sound card (stays empty: it is found by itself)
setup-page-broker = Home Assistant's MQTT broker (may stay empty)
setup-page-user = User name for the broker
setup-page-secret = Password for the broker
setup-page-language = Language
setup-page-any-language = the language spoken to it
setup-page-as-it-is = as it is
setup-page-mode = It listens
setup-page-mode-open = just talk
setup-page-mode-wake-word = after the wake word
setup-page-mode-push-to-talk = by the button
setup-page-panel = Button and light
setup-page-panel-auto = found by itself
setup-page-model = Model
setup-page-model-small = The small model it came with
setup-page-model-gemma = Fetch Gemma 4 (4 GB, licence: ai.google.dev/gemma)
setup-page-button = Set up
setup-page-too-many = Too many attempts. Wait a minute, then try again.
setup-page-other-origin = This form was sent from another page.
setup-page-old = This page is out of date. Reload it.
setup-page-thanks = Thank you.
setup-page-joins-before = The box leaves this Wi-Fi now and joins
setup-page-joins-after = It says aloud whether that went well; if not, this page comes back.
# Errors in what was typed there or is on the card; $value: the text as written.
setup-page-wrong-none = { $what ->
    [hostname] `{ $value }` is not a host name. Use letters, digits and hyphens, at most 63.
    [broker] `{ $value }` is not a broker. Use a name such as homeassistant.local, or an address.
    [timezone] `{ $value }` is not a time zone. Use one such as Europe/Berlin.
    [country] `{ $value }` is not a country. Use two capital letters, such as DE.
   *[card] `{ $value }` is not a sound card. Use auto, or an ALSA name such as plughw:CARD=Array.
}
setup-page-wrong-language = There is no language `{ $value }`. Use auto, or a code of two letters, such as en or de.
setup-page-wrong-mode = There is no mode `{ $value }`. Use one of { $there }.
setup-page-wrong-panel = There is no panel `{ $value }`. Use one of { $there }.
setup-page-wrong-no-button = The mode push_to_talk cannot be used. This box has no button, so nobody could ever talk to it.
setup-page-wrong-too-long = { $what ->
    [user] The broker's user is longer than { $most } characters, or has some that cannot be used.
    [password] The broker's password is longer than { $most } characters, or has some that cannot be used.
   *[name] The box's name is longer than { $most } characters, or has some that cannot be used.
}
setup-page-wrong-localhost = The name localhost means every machine itself. Give the box another name.
setup-page-wrong-no-broker = There is a user or password for a broker, but no broker.
setup-page-wrong-wifi-name = The Wi-Fi's name must be 1 to 32 bytes long.
setup-page-wrong-wifi-letters = The Wi-Fi's name has characters that cannot be used.
setup-page-wrong-wifi-password = The Wi-Fi's password must be 8 to 63 letters, digits and signs, as WPA requires. Leave it empty for an open network.
setup-page-wrong-wifi-missing = The Wi-Fi's name is missing.
setup-page-wrong-nothing = Nothing was typed.
setup-page-wrong-not-whole = The form did not arrive complete. Try again.
setup-page-wrong-not-asked = The form has a field that this page does not ask for.
setup-page-closes = The box closes this Wi-Fi now. It says aloud that it is set up.

## The page for browsers. Keys without `page-` are said aloud.

page-nav-live = Live
page-nav-settings = Settings
page-nav-access = Access
page-nav-skip = Skip to content
page-nav-main = Main
page-save = Save
page-set = Set
page-state-starting = Starting
page-state-idle = Ready
page-state-listening = Listening to you
page-state-thinking = Thinking
page-state-speaking = The box is speaking
page-state-holding = Paused for you
page-state-muted = The microphone is off
page-state-failed = Something is broken
page-state-idle-why = Just talk, or watch what happens here.
page-state-listening-why = It waits until you have finished.
page-state-thinking-why = The answer is being prepared. Nothing leaves the house.
page-state-speaking-why = Talk over it at any time: it stops.
page-state-holding-why = It heard something and is silent until it knows what it was.
page-state-muted-why = No sample of the microphone goes anywhere.
page-state-failed-why = See what is wrong below.
page-short-idle = ready
page-short-listening = you
page-short-thinking = thinking
page-short-speaking = the box
page-short-holding = paused
page-short-muted = microphone off
page-short-failed = broken
page-verdict-backchannel = mm-hm
page-verdict-interruption = interruption
page-verdict-noise = noise
page-pair-title = Let this browser in
page-pair-intro = Whoever is in the room with the box may use its page. The box says six digits aloud; type them here.
page-pair-ask = Say the digits
page-pair-again = Say them again
page-pair-code = Six digits
page-pair-passphrase = Passphrase
page-pair-enter = Let me in
page-pair-or = Or with the button
page-pair-button-intro = The box says two digits, and this page shows two. If they are the same, press the button on the box.
page-pair-button = Use the button
page-pair-button-listen = The box is about to say two digits. Listen to the end before you press its button.
page-pair-button-press = If the box has said these two digits, press its button now. If it has said others, do not press: somebody else asked.
page-pair-button-pressed = The button was pressed. Now type the passphrase.
page-pair-unheard = The announcement did not come to its end, or something else sounded after it. A press does not count then. Try again.
page-pair-asked = The box has said the digits. They are good for two minutes.
page-pair-printed = Type the six digits that were printed where the box was started.
page-problem-missing = There is no such page
page-problem-missing-why = The address has a mistake in it, or is out of date.
page-problem-refused = That was not accepted
page-problem-refused-why = The page was out of date, or its form came from somewhere else. Reload the page, and send it again.
page-problem-stranger = This browser is not let in
page-problem-stranger-why = It was never let in, or it was removed. Reload the page, and let it in.
page-problem-often = Too many requests
page-problem-often-why = Wait a minute, then try again.
page-problem-busy = The box does not answer
page-problem-busy-why = It is starting, or busy. Try again in a moment.
page-problem-wrong = That could not be done
page-problem-wrong-why = Something in it was not valid, or has changed meanwhile. Go back, and check it.
page-problem-back = Back
page-certificate-soon = The certificate of this page expires on { $day }. Have a new one issued; the page uses it as soon as it is on the box.
page-certificate-over = The certificate of this page expired on { $day }. Browsers warn about it. Have a new one issued; the page uses it as soon as it is on the box.
page-certificate-refused = A new certificate was rejected, and the previous one stays in use: { $why }
page-pair-wrong = That is not right. Ask for new digits if you tried five times.
page-pair-wait = The box has been asked too often. Try again in { $minutes } min, or switch the box off and on.
page-pair-night = At night ({ $night }) the box says no digits. Switch it off and on: for 15 minutes after that it does.
page-pair-busy = Another browser waits for the button. Try again in two minutes, or use the six digits.
page-pair-silent = The box cannot be heard now: its volume is 0, or its voice or its loudspeaker does not work.
page-pair-plain = This connection is not encrypted: it is meant for your own network.
echo-test = I am talking so that I can measure my own echo. Please be quiet for a few seconds. A box that hears itself would think that somebody talks, so I take my own voice out of what I hear.
pairing-digits = Somebody wants to open my page. The digits are: { $digits }.
pairing-button = Somebody wants to open my page. Press my button only if you see these digits there: { $digits }.
pairing-guessed = Somebody has typed a wrong passphrase or wrong digits for my page five times.
pairing-done = A new browser may use my page now: { $name }.
page-live-picture = Both voices over the last minute
page-live-you = you
page-live-box = the box
page-live-resumed = goes on
page-live-wait = Connecting to the box
page-live-lost = The connection is gone; trying again
page-live-noscript = The picture needs JavaScript. Everything else on this page works without it.
page-live-events = What happened
page-live-empty = Nothing yet. Say something to the box.
page-live-half = half of the times within
page-live-most = 19 of 20 within
page-live-count = times so far
page-live-quick = Microphone, and what is being said
page-live-since = since the start
page-live-words = Show the words of answers while this page is open
page-live-span = How much of the last minute is drawn
page-live-span-last = Last { $seconds } s
page-live-span-whole = Whole minute
page-live-timers-set = { $count ->
        [one] A timer or an alarm is set, due at { $due }.
       *[other] { $count } timers and alarms are set; the next is due at { $due }.
    }
page-live-timers-ring = A timer or an alarm is ringing.
page-live-refused = That did not work. { $why }
page-live-offline = There is no connection to the box.
page-notice-set-volume = Volume set to { $percent } %.
page-notice-set-mode = It now listens { $mode }.
page-notice-set-voice = Voice set to { $voice }.
page-wrong-no-button = This box has no button to hold.
page-live-words-why = This page stores no words.
page-live-volume = Volume
page-live-mode = It listens
page-live-voice = Voice
page-mode-open = always
page-mode-wake-word = after the wake word
page-mode-push-to-talk = while the button is held
page-mode-no-button = { $mode } (there is no button)
page-live-mute = Turn the microphone off
page-live-unmute = Turn the microphone on
page-live-stop = Stop talking
page-live-cut = The switch on the housing cuts the microphone. Only the switch undoes that.
page-live-no-unmute = It can be switched on again only at the box, as its owner has set it.
page-live-broken = Not working: { $parts }
page-ev-onset = You began to speak
page-ev-onset-over = You spoke over the answer
page-ev-pause = silent after { $ms } ms
page-ev-backchannel = mm-hm: the box goes on
page-ev-interruption = interruption: it listens to you
page-ev-noise = noise: the box goes on
page-ev-sure = { $p } % sure after { $ms } ms
page-ev-resume = went on where it was
page-ev-resume-back = went on, the last word again
page-ev-stop = the answer ended: { $heard } s heard, { $left } s not said
page-ev-finish = the answer was said to its end
page-ev-answer = the answer began
page-ev-speech-end = Your turn was over
page-ev-wake = Wake word
page-ev-heard = said
page-ev-unsaid = not said
page-access-title = Who may use this page
page-access-intro = Each of these browsers was let in by the digits or by the button.
page-access-this = this one
page-access-since = let in
page-access-seen = last seen
page-access-revoke = Remove this browser
page-access-log-out = Log out (remove this browser)
page-notice-logged-out = This browser is logged out. It is let in again by new digits or the button.
page-notice-revoked = That browser may not use the page any more.
page-access-passphrase = Passphrase for new browsers
page-access-passphrase-on = A passphrase is required besides the digits. Save an empty one to do without.
page-access-passphrase-off = None is required. Whoever hears the digits gets in.
page-notice-saved = Saved.
page-live-stops = How fast it falls silent when you speak
page-live-answers = How fast it answers
page-nav-own = This box
page-own-runs = What runs
page-own-software = Software
page-own-model = Model
page-own-house = Home Assistant
page-own-house-none = not set up
page-own-house-here = connected to the broker
page-own-house-gone = no connection to the broker
page-own-parts = Not working
page-own-parts-all = nothing: all is well
page-part-capture = Recording
page-part-listener = Hearing
page-part-words = Wake word and stop words
page-part-thinker = Language model
page-part-speaker = Voice
page-part-playback = Playback
page-part-conductor = Conversation
page-part-panel = Button and light
page-part-link = Connection to the house
page-part-page = This page
page-part-the-microphone = Microphone
page-part-the-loudspeaker = Loudspeaker
page-own-restart = Restart
page-own-restart-why = The box is silent for some seconds. If it is muted, it stays muted.
page-own-timers = Timers and alarms
page-own-timers-none = None is set. Ask for one aloud.
page-own-timers-some =
    { $timers ->
        [one] One timer
       *[other] { $timers } timers
    } and { $alarms ->
        [one] one alarm
       *[other] { $alarms } alarms
    }; the next is due at { $due }.
page-own-memory = Memory
page-own-memory-keeps = At most { $turns } turns are kept, on the box and nowhere else.
page-own-memory-none = Nothing that is said is kept.
page-own-forget-last = Forget the last turn
page-own-forget = Forget everything
page-own-forget-sure = Every turn is overwritten on the card. This cannot be undone. The box says when it is done.
page-own-forget-yes = Yes, forget everything

## The page: Try out.

page-nav-try = Try out
page-try-check = Self-check
page-try-check-intro = The box checks its sound, card, memory, voices and more. That takes some seconds; conversations go on meanwhile.
page-try-check-begin = Check
page-try-check-again = Check again
page-try-check-runs = It is checking. This takes some seconds.
page-try-check-failed = The check failed. Try again in a minute; in a shell of the box (ssh), the command sudo interlude check says more.
page-try-check-unseen = Not checked from here: the network, the broker's answer, a model server of your own, the model's checksum and prompt. In a shell of the box (ssh), the command sudo interlude check checks them too, and says more about each finding.
page-finding-ok = OK
page-finding-warning = note
page-finding-problem = to fix
page-find-at-software = Software
page-find-at-cores = Processor
page-find-at-permissions = Permissions
page-find-at-memory = Memory of the machine
page-find-at-disk = Free space on the card
page-find-at-heat-power = Heat and power
page-find-at-page = This page's encryption
page-find-at-secrets = Keys
page-find-at-settings = Settings file
page-find-at-release = Versions
page-find-at-model = Language model
page-find-at-voice = Voice
page-find-at-echo = Echo
page-find-at-turns = End of a question
page-find-at-house = Broker of the house
page-find-at-panel = Button and light
page-find-at-sound-card = Sound card
page-find-at-clock = Microphone and loudspeaker
page-find-software = { $listed }.
page-find-software-lacks = A part of the software is missing: { $package }. Install Interlude again.
page-find-software-32 = This system has 32 bits, and Interlude needs 64: install its 64-bit edition.
page-find-cores = { $count } cores: every part of the box has those that it is meant to have.
page-find-cores-few = { $count } cores: fewer than the box is designed for. It works, but answers may come later.
page-find-cores-shared = The language model shares its cores with other parts, which makes it 2 to 5 times slower when those are busy.
page-find-realtime = Sound has priority over everything else on this machine.
page-find-realtime-not = The system does not give sound priority over everything else: when the machine is busy, sound may drop out. On our card this is set; elsewhere `interlude check`, in a shell of the machine, says what to do.
page-find-locking = Sound stays in memory, and is never swapped out.
page-find-locking-not = The system may swap out memory that sound needs: it may drop out then. On our card this is set; elsewhere `interlude check`, in a shell of the machine, says what to do.
page-find-landlock = Each part of the box can reach only its own files.
page-find-landlock-none = The system cannot keep the parts of the box from each other's files: its kernel lacks Landlock. The box works without it; a fault in one part would reach further. `interlude check`, in a shell of the box, says what to do.
page-find-memory = { $have } MiB; { $need } may be needed.
page-find-memory-short = This machine has { $have } MiB of memory, and { $need } may be needed. Choose a smaller language model.
page-find-disk = { $mib } MiB are free.
page-find-disk-full = Only { $mib } MiB are free, and { $least } are needed. Remove models that you do not use.
page-find-disk-locked = The box cannot write to its card, so it would remember nothing. Switch it off and on; if that does not help, the card is worn out and has to be replaced.
page-find-power-now = The power supply is too weak at this moment. Use the official 27 W supply.
page-find-power-since = The power supply was too weak at some time since the start. Use the official 27 W supply.
page-find-heat-now = The machine is too hot, and slows itself down at this moment. Give it an active cooler, and air.
page-find-heat-since = The machine was too hot at some time since the start, and slowed itself down. Give it an active cooler, and air.
page-find-hot = { $degrees } °C: from 80 on it slows down. Give it an active cooler, and air.
page-find-warm = { $degrees } °C.
page-find-certificate = Valid for { $names }, until { $day }.
page-find-certificate-ends = The certificate expires on { $day }. Have a new one issued; the page uses it as soon as it is on the box.
page-find-certificate-bad = The certificate cannot be used. This page keeps the previous one until the box restarts. `interlude check`, in a shell of the box, says what is wrong with it.
page-find-secret = Only the box can read the model server's key.
page-find-secret-in-address = The model server's address in the settings file contains a login or a key. Put it in a file of its own: see `thinking.remote.key_file` in the manual.
page-find-secret-gone = The file with the model server's key is missing. Write it again, or empty `thinking.remote.key_file` in the settings file.
page-find-secret-open = Others on this machine may read the model server's key. Give its file the mode 0600, in a shell of the box.
page-find-settings-ignored = There is a second settings file in the box's state folder. The box does not use it. `interlude check`, in a shell of the box, names it; move what you need of it to /etc/interlude/settings.yaml, and delete it.
page-find-release-left = A version did not do well here. The page Software says which one, and what the box did.
page-find-model = { $model } is here.
page-find-model-server = A model server of your own answers in place of a model on the box.
page-find-voice = { $voice } speaks.
page-find-voice-none = No voice has spoken yet. Wait a minute, then check again.
page-find-no-espeak = Nothing replaces a voice that fails: the package espeak-ng is missing. Our card has it; elsewhere, install it.
page-find-echo = The box removes its own voice from what it hears.
page-find-echo-none = The box leaves it to the sound card to remove its voice from what it hears, as set in the settings.
page-find-turns = The box judges by the sound whether a question is over, within { $ms } ms.
page-find-turns-fixed = A question is over after { $ms } ms of silence, as set in the settings.
page-find-turns-lost = A question is over after { $ms } ms of silence: the model that judges it by the sound is missing or damaged. Install Interlude again.
page-find-turns-slow = A question is over after { $ms } ms of silence: this machine is too slow to judge it by the sound in time.
page-find-house = The box is connected to the broker.
page-find-house-gone = The box has no connection to the broker. Test it in the settings: that says why.
page-find-panel-hat = There is a board on the pins that the box does not know ({ $hat }): button and light are not used. If they are wired beside it, choose the board in the settings.
page-find-button = The button works.
page-find-button-unused = The button has not been pressed since the start. If it has been, a wire is loose.
page-find-button-stuck = The button is held down, or its wire touches ground: it is ignored. Look at the wires at pins 9 and 11.
page-find-button-bounces = The button bounces: it is ignored. Look at the wires at pins 9 and 11, or take another button.
page-find-switch-cuts = The mute switch cuts the microphone. Close it; if it is closed, its wire at pin 13 or 14 is loose.
page-find-switch-unread = The microphone is off: the settings name a mute switch, but nothing that reads it. Change panel.gpio or panel.mute_switch in the settings file.
page-find-light-fails = The light does not work. Look at its wires, and at its settings.
page-find-cards = Found: { $names }.
page-find-card-refused = The box may not open some of the sound devices. On our card it may; elsewhere its user has to be in the group audio.
page-find-card-no-capture = The box hears nothing: its microphone is missing or fails. Plug in a sound card that has both microphone and loudspeaker.
page-find-card-no-playback = The box plays nothing: its loudspeaker is missing or fails. Plug in a sound card that has both microphone and loudspeaker.
page-find-card-gone = The box neither hears nor plays: its sound card is missing or fails. Plug in one that has both microphone and loudspeaker.
page-find-card-held = The box hears and plays.
page-find-card-auto = The box has chosen it by itself.
page-find-card-default = The sound goes through the system's own mixer, which delays it. Set `card.capture` and `card.playback` to auto in the settings file.
page-find-two-clocks = Microphone and loudspeaker are two devices whose clocks drift apart: the box will hear itself. Use one device that has both.
page-try-light = The light
page-try-light-intro = Look at the box and press one: the light shows it for four seconds, then its true state for as long. While you talk with the box, it shows only its true state.
page-try-light-none = This box has no light.
page-try-show = Show
page-try-stop = Stop
page-try-tone = Loudspeaker
page-try-tone-intro = A tone that rises from 100 to 7200 Hz in six seconds, as loud as the voice. It should sound even; a rattle, a gap or an early end shows where the loudspeaker fails. To end it, talk over it, press the button or stop it here.
page-try-tone-begin = Play the tone
page-goes-on-tone = The tone is playing.
page-refused-busy = Not now: somebody is talking, or the box is. Try again when it is quiet.
page-refused-no-voice = The loudspeaker cannot be used: its card, or the part that serves it, is missing. The self-check says more.
page-refused-no-answer = The box has not answered. Try again.
page-try-microphone = Microphone
page-try-microphone-intro = Speak as you would to the box: it records three seconds, and plays them to you. The sound does not leave the box, is not stored, and is overwritten afterwards. Nothing you say meanwhile is taken as a question.
page-try-microphone-light = The light shows that it is recording.
page-try-microphone-begin = Record three seconds
page-goes-on-microphone = Speak now, and then listen.
page-try-peak = Loudest sample
page-try-speech = Loudest syllables
page-try-noise = Between words
page-try-offset = Constant part
page-try-clipped = Samples cut off
page-try-gain = Played louder by
page-microphone-good = The level is right: your voice is well above the noise of the room, and nothing is cut off.
page-microphone-nothing = No sound at all comes from the microphone. Check its switch and its plug, then its capture level in alsamixer.
page-microphone-clipped = The loudest samples are cut off. Lower its capture level in alsamixer, or speak from further away.
page-microphone-offset = The sound has a constant part (DC). It does not affect what is heard, but costs range; another microphone or card would have less.
page-microphone-noisy = The room, or the microphone's own noise, is loud. Try in quiet; if it stays, lower its capture level in alsamixer, or keep it away from fans and power supplies.
page-microphone-nobody = No voice stands out from the noise of the room. Speak while it records; if you did, go nearer, or raise its capture level in alsamixer.
page-microphone-quiet = Your voice is faint. Raise its capture level in alsamixer, or go nearer.
page-refused-muted = The microphone is off. Switch it on first.
page-refused-no-microphone = The microphone cannot be used: its card, or the part that serves it, is missing. The self-check says more.
page-light-recording = Records or plays your test
page-try-echo = Echo
page-try-echo-intro = The box says something, and measures how much of its own voice it removes from what it hears. Please be quiet meanwhile.
page-try-echo-begin = Measure the echo
page-try-echo-table = Levels in dBFS while the box was talking ({ $seconds } s)
page-try-echo-heard = echo
page-try-echo-left = left
page-try-echo-noise = room
page-try-echo-taken = removed
page-try-echo-all = all
page-goes-on-echo = It talks and measures. Be quiet for a moment.
page-echo-good = Good: what is left of its own voice does not matter. You can talk over it.
page-echo-fair = Fair: soft words over its voice may be missed. Move the loudspeaker away from the microphone, or turn the volume down.
page-echo-poor = Poor: it hears much of its own voice. Use one device as microphone and loudspeaker (two have two clocks); move them apart; turn the volume down; look for something that rattles. docs/echo.md says more.
page-echo-unheard = There is no echo to remove: the card cancels it, or the loudspeaker does not reach the microphone.
page-echo-none = The canceller is off in the settings: the card must do it. Compare what is left with the room; if it is much louder, set hearing.echo.canceller to auto.
page-echo-silent = There was too little sound to tell. Check the loudspeaker, then try again and let it finish.
page-echo-clipped = The loudspeaker overdrives the microphone: what is cut off cannot be removed. Turn the volume or the capture level down.
page-echo-itself = Meanwhile it took a sound for speech. If nobody made one, it was its own voice.
page-try-level = What it hears now
page-try-wake = Wake word
page-try-wake-intro = It waits for “{ $phrase }” with sensitivity { $sensitivity }. Say it as usual, from where you usually are. If it is listed here as missed, raise the sensitivity; if it is heard though nobody said it, lower it.
page-try-wake-now = How close it is now
page-try-wake-last = The last ten, and the sensitivity from which each would have been heard
page-try-wake-when = When
page-try-wake-score = Score
page-try-wake-what = It was
page-try-wake-heard = heard
page-try-wake-from = missed; heard from { $sensitivity } on
page-try-wake-never = missed at any sensitivity
page-try-wake-none = Nothing has come close to it yet. Only the wake word networks report scores (okay nabu, hey jarvis, hey mycroft, alexa); other recognisers report what they have heard.
page-try-wake-off = It listens without a wake word now.
page-light-steady = steady
page-light-breath = breathes
page-light-blink = { $times } × in { $seconds } s
page-light-white = white
page-light-red = red
page-light-amber = amber
page-light-blue = blue
page-light-green = green
page-light-violet = violet
page-light-reset-armed = Press again to erase everything
page-light-reset-warning = Keep holding to reset, or let go
page-light-setup-warning = Keep holding for set-up
page-light-muted = The microphone is off
page-light-no-card = Sound card missing or incomplete
page-light-failed = A part has failed
page-light-updating = Updating; leave the plug in
page-light-setup = Waiting to be set up
page-light-holding = Paused; heard something
page-light-listening = Hears you
page-light-thinking = Thinks
page-light-ringing = A timer or an alarm rings
page-light-speaking = Speaks
page-light-starting = Starting
page-light-too-hot = Too hot, or the supply is weak
page-light-fetching = Fetches its model
page-light-no-broker = No connection to the broker
page-light-idle = Ready

## The page: This box and Settings.

page-own-all = Show all
page-timers-timer = Timer
page-timers-alarm = Alarm
page-timers-rings = rings now
page-timers-left = left:
page-timers-at = due at { $when }
page-timers-of = of { $length }
page-timers-cancel = Cancel
page-timers-stop = Stop the ringing
page-notice-cancelled = It is cancelled.
page-nav-set = Settings
page-set-now = At once
page-set-now-why = These take effect at once.
page-set-hearing = Hearing and language
page-set-language = Language
page-set-language-any = the language spoken to it
page-set-phrase = Wake word
page-set-phrase-why = Words in lower case. okay nabu, hey jarvis, hey mycroft and alexa are heard best.
page-set-sensitivity = Sensitivity
page-set-sensitivity-why = To the right it hears the wake word more often, also when nobody said it.
page-set-house = Name and house
page-set-name = Name of the box
page-set-broker = MQTT broker
page-set-broker-why = A name or an address; empty: none.
page-set-port = Port
page-set-port-why = 0: 1883, or 8883 with TLS.
page-set-user = User
page-set-secret = Password
page-set-secret-why = It is never shown. Leave it empty to keep the one that is there. For another broker, port, user or encryption, type it again.
page-set-certificate = The broker at { $at } shows another certificate than before. The box does not connect to it. Accept it only if you have changed the certificate yourself. Its SHA-256: { $sha256 }
page-set-certificate-accept = Accept this certificate
page-set-tls = Encrypt (TLS), and check the broker's certificate
page-set-panel = Button and light
page-set-board = Wired to
page-set-light = Light
page-set-brightness = Brightness
page-set-night-brightness = Brightness at night
page-set-night = Night
page-set-night-why = From and to, as 22:00-07:00; empty: never.
page-set-anew = Changes take effect after a restart.
page-set-undo = Undo the last change
page-set-awaited = The change is being written.
page-set-nobody = The change was not carried out. Look in the log, or change it over ssh.
page-set-meanwhile = The settings were changed meanwhile. Reload this page, then change them.
page-set-broken = The box runs with its previous settings. Correct the file with an editor; then they can be changed here again.
page-notice-undone = The last change is undone.
page-own-read = Read what is remembered
page-memory-count = Remembered turns: { $turns }
page-memory-heard-so = (as the model heard it)
page-memory-speech = { $seconds } s of speech
page-memory-cut = (interrupted there)
page-memory-forget = Forget this
page-memory-going = It is being overwritten on the card.
page-memory-failed = It could not be forgotten: { $why }
page-memory-unreadable = What is remembered cannot be read at this moment. Reload the page.
page-memory-empty = Nothing is remembered yet.
page-memory-pages = Pages
page-memory-newer = Newer
page-memory-older = Older
page-own-software-more = Versions: install, go back
page-software-runs = Runs now
page-software-system = System
page-software-before = Previous version
page-software-left = Did not stay up
page-software-ready = Ready to install
page-software-none = No newer version is ready to install.
page-software-no-appliance = This page can neither install a version here nor go back to one: the software was set up by hand, and its version is changed by hand. Version { $version } runs.
page-software-signed = Only signed versions are installed. If one fails its health check, the box goes back by itself.
page-software-looks = The box looks for a new version every night, and installs what it finds.
page-software-install = Install
page-software-asked = It is requested. The box begins in a moment.
page-software-unwell = { $version } failed its health check three times: { $why }. It was kept all the same, because it closes a security hole, and the box does not go back to an older version. If it does not work, look for a newer one, or ask the publisher.
page-software-going = { $version } is being installed
page-software-going-why = The box restarts on the way, and this page with it.
page-software-failed = { $version } was not installed: { $why }
page-software-done = { $version } is installed, and passed its health check.
page-software-busy = Something is being installed or tried at the moment. Wait until that is over.
page-software-not-ready = There is no such version here to install.
page-software-no-look = This box cannot be asked from here to look for a newer version.
page-look-title = Look for a new version
page-look-now = Look now
page-look-no-address = No address is set at which this box would look for new versions. Its administrator can set one: see the chapter "Many boxes" of the manual.
page-look-stick = From a USB stick
page-look-stick-why = Put a .release or .system file on a stick, not in a folder, and plug the stick into the box. If it is newer and signed with a key that the box trusts, it is copied and listed above as ready to install; it is not installed yet.
page-look-stick-now = Look on the stick
page-look-goes-on-web = The box looks for a new version.
page-look-goes-on-stick = The box looks on the stick. If none is plugged in, do that now; it waits for 15 minutes.
page-look-fetches = Version { $version } is being downloaded to the card.
page-look-last = Last looked { $when }: { $found }
page-look-stale = No look for updates has succeeded for 30 days. So the box may lack a security update: see whether it reaches the internet, or ask whoever publishes its updates.
page-look-none = There is nothing newer: this box has { $kept }, and { $there } is offered.
page-look-left = { $version } did not stay up here, and is not downloaded again.
page-look-failed = { $version } failed its health check here; it is not installed again by itself, only by hand.
page-look-returned = Somebody went back from { $version } here; it is not installed again by itself, only by hand.
page-look-asked = { $version } was found, and is installed next.
page-look-stick-none = There is no newer version for this box on the stick.
page-look-stick-brought = { $versions } was copied from the stick, and is ready to install.
page-software-back = Go back
page-software-back-why = The box is silent for some seconds while Interlude { $version } is tried, as when it was new. If it fails its health check, the box keeps the present version, which stays on the card in any case.
page-software-back-to = Go back to Interlude { $version }
page-software-back-yes = Yes, go back
page-software-system-before = Previous system
page-software-system-trial = The machine starts with the system { $version }. If that fails its health check, it restarts with the previous one. This takes some minutes; the box does not answer meanwhile.
page-software-system-back-to = Go back to the system { $version }
page-software-system-back-why = The whole machine restarts with the system { $version } and keeps it if it passes its health check; otherwise it restarts with the one that runs now. This takes some minutes; the box does not answer meanwhile. Settings, what is remembered and models stay.
page-software-system-back-yes = Yes, start the machine with it
page-software-before-none = There is no earlier Interlude on the card.
page-software-system-none = There is no earlier system on the card.
page-software-system-apt = This machine was not made from our card image: the system under Interlude is updated by its own package manager.
page-step-look = Checks the file
page-step-verify = Checks the signature
page-step-unpack = Writes it to the card
page-step-wait = Waits until nobody is talking
page-step-try = Tries it
page-step-back = Goes back
page-step-other = In progress
page-network-title = Wi-Fi and time zone
page-network-open = Another Wi-Fi, another time zone
page-network-wifi = Wi-Fi
page-network-wifi-why = The box tries the new Wi-Fi. If that does not let it in, it goes back to the previous one within two minutes. Your phone may have to change its Wi-Fi, too, to see this page again.
page-network-unconfirmed = The box is in the Wi-Fi { $wifi }, which was typed in without its button. Until you confirm it, the box does not connect to Home Assistant, and keeps the previous Wi-Fi, too.
page-network-confirm-why = Did you give the box the Wi-Fi { $wifi }? If you did not, join your own below.
page-network-confirm = Yes, it is mine
page-network-look = Show which are in range
page-network-reach = In range:
page-network-name = Name of the Wi-Fi
page-network-secret-why = Leave it empty for an open network.
page-network-hidden = It hides its name
page-network-enter = Join this Wi-Fi
page-network-zone = Time zone
page-network-zone-here = The time here is that of
page-network-zone-why = It takes effect after a restart, for the night of the light, timers and alarms.
page-network-awaited = The change is being made. The box may be off the network for two minutes.
page-network-done = It is done.
page-set-trial = Test
page-set-trial-awaited = The broker is being tested.
page-set-port-none = A port is a number from 0 to 65535.
page-network-none = This box gets its network and its clock from the system that it runs on.
page-models-title = Models and voices
page-models-language = Language models
page-models-voices = Voices
page-models-words = Recognising words while the box talks
page-models-codec = Speech codec
page-models-used = in use
page-models-here = here
page-models-memory = This machine has too little memory for it: a box with { $gb } GB is needed.
page-models-short = There is no room for it on the card: { $size } more is needed.
page-models-coming = { $percent } % is here. The download resumes after every interruption.
page-models-part = { $percent } % of it is here.
page-models-accept = I accept its licence, { $licence }
page-models-licence-first = Read the licence, and accept it.
page-models-fetch = Fetch
page-models-remove = Remove
page-models-remove-sure = It is deleted from the card. It can be fetched again.
page-models-remove-yes = Yes, remove it
page-models-choose = Use
page-models-not-here = That model is not on this box.
page-models-asked = It is requested. The box begins in a moment.
page-models-leaving = { $model } is being removed.
page-models-anew = { $model } answers after a restart.
page-models-speak = Voices on this box
page-report-title = Log and bug report
page-report-why = This is all that would be saved. It contains no password and no word that anybody said; addresses and quoted names are left out. It is sent nowhere.
page-report-save = Save it as a file
page-backup-title = Backup and restore
page-backup-make = Make a backup
page-backup-make-why = One file with what is remembered, timers, what was enrolled, and the settings that this page can change. It contains no password, no Wi-Fi and no browser. It contains what was said: keep it where you would keep a diary.
page-backup-download = Make a backup
page-backup-ready = The backup is made
page-backup-ready-why = This is in it:
page-backup-has-turns = What is remembered: { $turns } turns of conversation
page-backup-has-timers = Timers and alarms: { $timers }
page-backup-has-settings = Settings that are not the default: { $settings }
page-backup-has-not = Not in it: passwords and keys, the Wi-Fi, the browsers that were let in, models, voices and Interlude itself. Those you set up again on another box. It contains what was said: keep it where you would keep a diary.
page-backup-save = Save the file
page-backup-saved = Your browser saves it among its downloads, as { $file }. The button works for ten minutes.
page-backup-restored = Restored { $when }
page-backup-brought-back = The previous data was brought back { $when }
page-backup-not-restored = Nothing was restored { $when }: { $why }
page-backup-nothing = Only settings, or nothing that differed
page-backup-all-begun = The box has restarted since; nothing else is needed. Wi-Fi and passwords are as they were.
page-backup-restore = Restore
page-backup-choose = Backup file, 6 MB at most
page-backup-look = Look at it
page-backup-none = No backup arrived. It may be too large, or another one is being sent.
page-backup-preview = This would change
page-backup-from = Backup of { $box }, made { $when } by Interlude { $version }
page-backup-turns = What is remembered: { $now } turns become { $then }
page-backup-timers = Timers and alarms: { $now } become { $then }; what was due meanwhile is announced as missed
page-backup-adjusted = Mode, volume and voice, as they were set
page-backup-enrolled = What was enrolled of your voice
page-backup-model = The language model stays as it is: { $model } is not on this box. Fetch it under Models and voices, then choose it there.
page-backup-apply-why = The box restarts for it. What is replaced is kept, and can be brought back.
page-backup-apply = Restore it
page-backup-cancel = Leave everything as it is
page-backup-awaited = The box restarts, and restores on the way.
page-backup-back = Bring back what was there
page-backup-back-why = What the last restore replaced is still on the card, all but the settings: those are undone under Settings.
page-own-passed-on = Sentences that another voice had to say
enrol-intro = I would like to learn how you say a few words while I talk. I say a word; then say it as you would to me, once.
enrol-ask = Say: { $word }
enrol-word-mm-hm = mm-hm
enrol-word-yeah = yeah
enrol-word-right = right
enrol-word-wait = wait
enrol-word-stop = stop
enrol-word-no = no
enrol-fault-silent = I heard nothing.
enrol-fault-clipped = That was too loud.
enrol-fault-noisy = That was too faint beside the noise.
enrol-fault-short = That was too short.
enrol-fault-long = That was too long: one word, please.
enrol-fault-no-word = I heard no word.
enrol-fault-unlike = That did not fit the others.
enrol-kept = Thank you. I have learnt it.
enrol-no-better = Thank you. I understand you already; nothing is changed.
enrol-too-few = That was too little to learn from. Nothing is kept.
enrol-contradict = The words sounded too much alike. Nothing is kept.
enrol-failed = Something went wrong. Nothing is kept.
page-enrol-title = Your "mm-hm" and "wait"
page-enrol-intro = While the box talks, a murmur should let it go on and a word like "wait" should stop it. Here it learns how you say them: it asks aloud for six words, three times each, and you say each of them once, as you would while it talks. It takes about two minutes. Nothing you say meanwhile is taken as a question.
page-enrol-keeps = The recordings stay in the box's working memory, for as long as this takes; they are neither sent nor stored. Only 195 numbers are kept, and only if they make it better.
page-enrol-since = Enrolled: { $since }.
page-enrol-nobody = Nobody is enrolled.
page-enrol-begin = Begin
page-enrol-again = Begin again
page-enrol-stop = Stop
page-enrol-forget = Delete what was enrolled
page-enrol-forget-sure = What was learnt is overwritten on the card, and so are recordings that the command "interlude enrol" has kept. From then on the box judges as it did when new.
page-enrol-forget-yes = Delete it
page-enrol-left = Not all of it could be deleted: the card cannot be written. Try again.
page-enrol-asking = The box asks for "{ $word }". Say it when it has spoken.
page-enrol-recording = Say "{ $word }" now.
page-enrol-judging = "{ $word }" is being checked.
page-enrol-waiting = Somebody is talking, or the box is. It goes on with "{ $word }" when it is quiet.
page-enrol-learning = It learns from what you said. That may take a minute.
page-enrol-cancelled = It was stopped. Nothing of it is kept.
page-enrol-abandoned = It was stopped, since no browser had this page open any more. Nothing of it is kept.
page-enrol-faults = It was stopped: too many of the words could not be used. Nothing of it is kept. The table says why; try the microphone first.
page-enrol-end-kept = It is learnt and in use from now on: of { $takes } words, each judged by what was learnt from the others, { $before } % were right before and { $after } % are now.
page-enrol-end-no-better = The box understands you as well without it: of { $takes } words { $before } % were right as shipped. Nothing was changed.
page-enrol-end-too-few = Too few words could be used: at least three murmurs and three words that stop are needed. Nothing was changed.
page-enrol-end-contradict = The words sound too much alike: what was said for a murmur and for a stop contradict each other. Nothing was changed.
page-enrol-end-failed = The box could not learn from it, or could not store it. Nothing was changed. Try again.
page-enrol-table = { $accepted } of { $all } words are accepted
page-enrol-word = Word
page-enrol-round = Round { $round }
page-enrol-fault-accepted = accepted
page-enrol-fault-now = now
page-enrol-fault-silent = nothing heard
page-enrol-fault-clipped = too loud
page-enrol-fault-noisy = too quiet, or too much noise
page-enrol-fault-short = too short
page-enrol-fault-long = too long
page-enrol-fault-no-word = no word heard
page-enrol-fault-unlike = not like the others
page-wrong-type = { $setting }: { $kind ->
    [whole] a whole number is needed.
    [number] a number is needed.
    [switch] it is either on or off.
   *[other] text is needed.
}
page-wrong-least = { $setting }: the minimum is { $limit }.
page-wrong-most = { $setting }: the maximum is { $limit }.
page-wrong-longer = { $setting }: at most { $most } characters.
page-wrong-form = { $setting }: what was typed does not have the required form.
page-wrong-choice = { $setting }: there is no `{ $value }`. Use one of { $choices }.
page-wrong-phrase = The wake word `{ $phrase }` has to be words in lower case.
page-wrong-unknown-key = There is no setting `{ $setting }`.
page-wrong-unknown-key-near = There is no setting `{ $setting }`. Did you mean `{ $near }`?
page-wrong-not-here = `{ $setting }` cannot be changed from here. Change it in the settings file.
page-wrong-broker-mute = The broker cannot be changed from here: it may end a mute, which this page may not. Change it in the settings file.
page-wrong-broker-password = The saved password is only for the broker, port, user and encryption that it was typed for. Type the password, too, or leave the user empty.
page-wrong-panel-switch = What button and light are wired to cannot be changed from here: a mute switch is wired there, too. Change it in the settings file.
page-wrong-password-letters = The password has characters that cannot be typed. Type it again.
page-wrong-no-undo = There is no change to undo.
page-wrong-unreadable = The settings file { $file } cannot be read. Correct it by hand.
page-wrong-by-hand = The settings file { $file } cannot be changed from here without losing part of it. Change it in an editor.
page-wrong-no-form = There is no such form.
page-wrong-another-change = Another change is being made. Try again in a few seconds.
page-wrong-nobody-asked = The system service that does this cannot be reached ({ $why }). Do it over ssh.
page-wrong-no-wifi = This machine has no Wi-Fi.
page-wrong-in-set-up = The box is being set up. Do it on the page of its own Wi-Fi.
page-wrong-zone-missing = No time zone was chosen. Use one such as Europe/Berlin.
page-wrong-broker-changed = The broker at { $at } shows another certificate than before. If you have changed it, accept it under Set; else another machine answers. Its SHA-256: { $sha256 }
page-wrong-broker-first = No authority vouches for the certificate of the broker at { $at }, so the password was not sent. If you save these settings, the box remembers the certificate at its first connection and accepts no other. Its SHA-256: { $sha256 }
page-wrong-broker-pin-read = The file with the broker's certificate, { $file }, cannot be read. Delete it.
page-wrong-broker-pin-write = The broker's certificate could not be remembered ({ $why }). Is there room on the card?
page-wrong-unconfirmed = The box is in the Wi-Fi { $wifi }, which you have not confirmed. It connects to no broker there. Confirm it under Wi-Fi and time zone.
page-wrong-nothing-to-confirm = There is no Wi-Fi to confirm.
page-wrong-no-zone = There is no time zone `{ $zone }`. Use one such as Europe/Berlin.
page-wrong-broker-none = No broker is named.
page-wrong-broker-name = The name { $name } is not known in this network. Check it, or type the broker's IP address.
page-wrong-broker-port = No broker listens at { $at }. Is it running, and are name and port right?
page-wrong-broker-silent = There is no answer from { $at }. Is it switched on, and does a firewall let the box through?
page-wrong-broker-network = { $at } cannot be reached. Is the network up?
page-wrong-broker-certificate = The certificate of the broker at { $at } is not trusted. Type the name that is in it, or name the authority that signed it in the settings file (link.ca_file).
page-wrong-broker-tls = The broker at { $at } does not speak TLS there. Type its TLS port, often 8883, or switch the encryption off.
page-wrong-broker-login = The broker at { $at } refuses the login of { $user }. Check user and password.
page-wrong-broker-needs-login = The broker at { $at } requires a login. Type user and password.
page-wrong-broker-other = What answers at { $at } does not speak MQTT. Check name and port.
page-wrong-broker-closed = { $at } closed the connection without an answer. If that port is one for TLS, switch the encryption on.
page-wrong-broker-topics = The broker at { $at } does not let the box read { $topics }. Allow it in the broker's access list.
page-set-broker-well = The broker at { $at } lets the box in: { $how ->
    [tls] encrypted, MQTT { $version }.
   *[plain] MQTT { $version }.
}
page-wrong-nothing-before = There is nothing earlier to go back to.
page-wrong-no-tryboot = This machine's kernel cannot ask the Pi for a trial of the other system. The chapter "When something is wrong" of the manual says how to start it by hand.
page-wrong-not-installed = { $file } could not be installed ({ $why }).
page-wrong-system-unwell = The system { $version } failed its health check ({ $why }).
page-wrong-system-not-up = The system { $version } did not come up.
page-wrong-system-not-started = The system { $version } was not started: this machine's kernel cannot ask the Pi for a trial. The chapter "When something is wrong" of the manual says how to start it by hand.
page-wrong-card-worn = The card did not keep what was written to it. It is worn out: replace it.
page-wrong-look-nowhere = No address is set at which this box would look for new versions.
page-wrong-look-reach = { $at } cannot be reached. Is the network up, and is the address right? The box tries again the next night.
page-wrong-look-answer = { $at } answered with the error { $code }. The box tries again the next night.
page-wrong-look-sheet = What is at { $at } does not name a version.
page-wrong-look-other = What was fetched is not the version { $version } that was announced. It was deleted.
page-wrong-look-large = What was offered is larger than a version may be.
page-wrong-look-cut = { $at } broke off the download. What arrived is kept, and the box goes on with it the next night.
page-wrong-look-length = { $at } gives a length that is no number. The box looks there again the next night.
page-wrong-look-checksum = What arrived is damaged, and was deleted.
page-wrong-look-room = There is not enough room on the card: { $mib } MiB more are needed.
page-wrong-look-address = { $at } is not a web address.
page-wrong-look-write = What was found could not be written to the card ({ $why }).
page-wrong-trusts-nobody = This box has no update key yet: its administrator has to install the public key of the publisher.
page-wrong-unsigned = It is not signed with a key that this box trusts.
page-wrong-other-machine = It is made for { $made }, and this box has { $here }.
page-wrong-system-kept-unwell = The system { $version } failed its health check three times: { $why }. It was kept all the same, because a security update requires it.
page-wrong-below-floor = { $version } is older than { $least }, which a security update requires.
page-wrong-older = { $version } is older than { $kept }, which is installed.
page-wrong-clock = The box's clock is wrong: it is earlier than the day on which this version was made. It sets itself when the box is online.
page-wrong-system-on-trial = A system is on trial. Wait until that is over, or switch the machine off and on.
page-wrong-other-files = Another { $version } with other files is here already. The publisher has to give this one a new number.
page-wrong-unwell = { $version } failed its health check ({ $why }). The box is back on { $kept }, and works.
page-wrong-unwell-alone = { $version } failed its health check ({ $why }), and there is no version to go back to.
page-wrong-unwell-both = { $version } failed its health check ({ $why }). The box is back on { $kept }, which does not work well either. Try out → Self-check says more.
page-wrong-damaged = { $file } is damaged, or was changed after it was signed. Fetch it again.
page-wrong-no-archive = { $file } is not a version of Interlude, or only a part of one.
page-wrong-self-test = It was tested before it was started, and would not run here. The box's log says what is wrong.
page-wrong-somebody-talks = A conversation is under way, so the box was not restarted. Try again later; the version is ready to install.
page-wrong-general = That did not work. The box's log says what is wrong.
page-wrong-general-settings = The settings cannot be used like this. The box's log says what is wrong.
page-wrong-general-card = The sound card is missing, busy, or cannot do what is asked of it.
page-wrong-general-model = That model is missing, damaged, or of another kind.
page-wrong-general-fetch = The download failed, or what arrived is not what was promised.
page-wrong-general-voice = The voice cannot speak.
page-wrong-general-server = The model server cannot be reached, or answers with an error.
page-wrong-general-broker = The broker cannot be reached, or refuses the box.
page-wrong-general-certificate = The page's certificate cannot be used.
page-wrong-general-panel = Button or light cannot be used as they are set.
page-wrong-general-not-allowed = The box may not do that.
page-wrong-general-backup = This file is not a backup of Interlude, or it is damaged.
page-wrong-general-storage = The card cannot be read or written: it may be full or worn out.
page-wrong-general-release = What was to be installed cannot be used: it is damaged, or not made for this box.
page-wrong-general-typed = What was typed cannot be used.
page-wrong-general-later = This is not possible at the moment. Try again later.
page-wrong-general-unwell = What was tried failed its health check. The box goes on with what it had.
page-wrong-model-missing = The language model { $model } is not on this box. Fetch it under Models and voices.
page-wrong-model-part = The language model { $model } is here only in part. Fetch the rest under Models and voices.
page-wrong-model-unverified = The files of the language model { $model } are not verified. Fetch it under Models and voices.
page-wrong-model-unknown = There is no model `{ $model }`.
page-wrong-backup-none = This file is not a backup of Interlude. Choose one that this page has made.
page-wrong-backup-damaged = This backup is damaged. Choose another one.
page-wrong-backup-version = This backup is of another version of Interlude. Install that version, or a newer one, first.
page-wrong-backup-key = This backup sets `{ $setting }`, which no backup holds.
page-wrong-model-by-hand = { $model } is fetched in a shell of the box: interlude models fetch { $model }.
page-wrong-model-shipped = { $model } comes with the box, and stays.
page-wrong-model-under-way = { $model } is being fetched or removed already. Wait until that is done.
page-wrong-model-in-use = { $model } is in use. Choose another one, and restart the box.
page-wrong-model-here = { $model } is here already.
page-wrong-model-write = The request could not be written to the card ({ $why }).
page-wrong-file-large = The settings file { $file } would become too large. Remove comments from it.
page-wrong-network-asked = The box's network cannot be changed at the moment. Restart the box, then try again.
page-wrong-network-refused = The box's network did not accept that. Check the name and the password of the Wi-Fi.
page-wrong-certificate-pair = Certificate and key do not belong together, or are not PEM files. The key has to be without a passphrase.
page-wrong-certificate-open = Others on this machine may read the certificate's key. It has to be for its owner alone (mode 0600).
page-wrong-certificate-keyless = The certificate has no key on this box.
page-wrong-certificate-unread = { $file } cannot be read by the box.
page-wrong-certificate-bad = The certificate cannot be used: it may have run out, be for something else, or lack a part of its chain. Look at the box's clock, too.
page-wrong-in-english = This text exists in English only:
