# Was das Gerät von selbst sagt, auf Deutsch. Die Schlüssel stehen in en.ftl, mit Erläuterungen.

## The language itself

language-name = Deutsch
persona = Du bist Interlude, eine Stimme in einem kleinen Gerät. Der Benutzer spricht mit dir, und was du antwortest, wird vorgelesen. Antworte in kurzen gesprochenen Sätzen, mit einfachen Worten, ohne Aufzählungen und ohne Zeichen.
persona-any-language = Antworte immer in der Sprache, in der der Benutzer spricht.
persona-one-language = Antworte immer auf { $language }.
instruction = Antworte kurz auf das Gesagte.

## Words that are said while the box talks. Lower case, separated by commas.

words-yield = warte, halt, stopp, nein, moment, einen moment, entschuldigung, aber, eigentlich, sei still, sei ruhig, hör auf, schon gut, vergiss es
words-carry-on = mhm, hm, aha, ja, ja ja, okay, genau, stimmt, richtig, klar, ach so, verstehe, gut, wow, toll
words-refuse = nein, nee, nö, nicht, stopp, halt, abbrechen, niemals, auf keinen Fall, lass das, lass es, lieber nicht, vergiss es
words-agree = ja, ja bitte, jawohl, okay, ok, klar, gerne, mach das, mach es, tu es, bestätigt, ich bestätige
words-stop = stopp, halt, sei still, sei ruhig, hör auf, schon gut, vergiss es
words-repeat = wie bitte, nochmal, noch mal, noch einmal, sag das nochmal, sag das noch einmal, was hast du gesagt

## Frequent words that identify the language of a typed question. Lower case, separated by commas.

common-words = der, die, das, den, dem, des, ein, eine, einen, einem, einer, ist, sind, war, bin, bist,
    ich, du, er, sie, es, wir, ihr, mir, mich, dir, dich, mein, meine, dein, deine, und, oder, nicht,
    kein, keine, was, wann, wie, wer, warum, wo, welche, welcher, welches, bitte, für, mit, von, auf,
    aus, an, in, im, am, um, zu, zum, zur, über, bei, nach, hat, habe, haben, kann, kannst, wird,
    noch, auch, heute, morgen, uhr, gibt, sag, stell, stelle, mach, schalte

## Numbers, clocks and days. If a list is empty or too short, digits are said.

number-words = null, eins, zwei, drei, vier, fünf, sechs, sieben, acht, neun, zehn, elf, zwölf,
    dreizehn, vierzehn, fünfzehn, sechzehn, siebzehn, achtzehn, neunzehn, zwanzig,
    einundzwanzig, zweiundzwanzig, dreiundzwanzig, vierundzwanzig, fünfundzwanzig,
    sechsundzwanzig, siebenundzwanzig, achtundzwanzig, neunundzwanzig, dreißig, einunddreißig,
    zweiunddreißig, dreiunddreißig, vierunddreißig, fünfunddreißig, sechsunddreißig,
    siebenunddreißig, achtunddreißig, neununddreißig, vierzig, einundvierzig, zweiundvierzig,
    dreiundvierzig, vierundvierzig, fünfundvierzig, sechsundvierzig, siebenundvierzig,
    achtundvierzig, neunundvierzig, fünfzig, einundfünfzig, zweiundfünfzig, dreiundfünfzig,
    vierundfünfzig, fünfundfünfzig, sechsundfünfzig, siebenundfünfzig, achtundfünfzig,
    neunundfünfzig
day-words = erste, zweite, dritte, vierte, fünfte, sechste, siebte, achte, neunte, zehnte, elfte,
    zwölfte, dreizehnte, vierzehnte, fünfzehnte, sechzehnte, siebzehnte, achtzehnte, neunzehnte,
    zwanzigste, einundzwanzigste, zweiundzwanzigste, dreiundzwanzigste, vierundzwanzigste,
    fünfundzwanzigste, sechsundzwanzigste, siebenundzwanzigste, achtundzwanzigste,
    neunundzwanzigste, dreißigste, einunddreißigste
weekday-words = Montag, Dienstag, Mittwoch, Donnerstag, Freitag, Samstag, Sonntag
month-words = Januar, Februar, März, April, Mai, Juni, Juli, August, September, Oktober,
    November, Dezember

# Von 0 bis 24 Uhr: so ist klar, welche Hälfte des Tages gemeint ist. „Ein Uhr“, nicht „eins Uhr“.
clock = { $minute ->
    [0] { clock-hour }
   *[other] { clock-hour } { $minutes }
}
clock-hour = { $hour24 ->
    [1] ein Uhr
   *[other] { $hour } Uhr
}
clock-of-day = { $clock }
date = { $weekday }, der { $day } { $month }
when = { $day ->
    [today] { $clock }
    [tomorrow] morgen um { $clock }
   *[later] { $weekday } um { $clock }
}

decimal-sign = { "," }

length-hours = { $count ->
    [one] eine Stunde
   *[other] { $words } Stunden
}
length-minutes = { $count ->
    [one] eine Minute
   *[other] { $words } Minuten
}
length-seconds = { $count ->
    [one] eine Sekunde
   *[other] { $words } Sekunden
}
length-minute-and-a-half = anderthalb Minuten
length-none = gar keine Zeit
length-joined = { $first } und { $second }

## Answers of tools

tool-unknown = Das kann ich nicht.
tool-unclear = Das habe ich nicht verstanden. Bitte sag es noch einmal.
tool-time = Es ist { $clock }.
tool-date = Heute ist { $date }.
timer-named = { $name }: { $text }
timer-range = Ein Timer kann von einer Sekunde bis zu einem Tag laufen.
timers-full = Ich habe schon { $count } davon. Lösche erst einen.
timer-set = { $length }, ab jetzt.
alarm-unclear = Die Zeit für den Wecker habe ich nicht verstanden. Bitte sag sie noch einmal.
alarm-set = der Wecker ist auf { $when } gestellt.
timers-none = Es läuft kein Timer, und kein Wecker ist gestellt.
timer-left = noch { $length }.
alarm-waits = ein Wecker für { $when }.
timer-stopped = In Ordnung.
timer-not-found = Es gibt keinen Timer namens { $name }.
timer-none = Es läuft kein Timer.
timer-off = { $kind ->
    [alarm] der Wecker ist aus.
   *[timer] der Timer ist aus.
}
volume-set = So laut.
volume-up = Lauter.
volume-down = Leiser.
volume-most = Lauter kann ich nicht sprechen.
volume-least = Leiser kann ich nicht sprechen.
nothing-said = Ich habe noch nichts gesagt.
forget-all-again = Das ist alles, was wir je gesagt haben. Wenn ich alles vergessen soll, bitte mich noch einmal darum.
house-none = Ich bin nicht mit dem Haus verbunden.
house-away = Ich erreiche das Haus gerade nicht.
house-enough = Das ist genug für eine Antwort.
house-opens = Das könnte etwas öffnen: { $command }. Drücke meinen Knopf und bitte mich noch einmal darum, mit denselben Worten, dann tue ich es.
house-touches = Das betrifft { $name }. Drücke meinen Knopf und bitte mich noch einmal darum, mit denselben Worten, dann tue ich es.
house-press-again = Ich muss sicher sein, dass du es bist. Drücke meinen Knopf und bitte mich noch einmal.
house-left = Dann bleibt es, wie es ist.
house-press-first = Das könnte etwas öffnen. Drücke erst meinen Knopf, und bitte mich dann darum.
house-silent = Das Haus antwortet nicht.
house-done = Erledigt.
house-not-done = Das hat das Haus nicht getan.
alarm-rings = Es ist { $clock }. Dein Wecker.
alarm-rings-named = Es ist { $clock }: { $name }.
timer-rings = Dein Timer ist abgelaufen: { $name }.
alarm-missed = Während ich aus war, hätte um { $clock } dein Wecker geklingelt.
alarm-missed-named = Während ich aus war, hätte um { $clock } dein Wecker geklingelt: { $name }.
timer-missed = Während ich aus war, ist um { $clock } dein Timer abgelaufen.
timer-missed-named = Während ich aus war, ist um { $clock } dein Timer abgelaufen: { $name }.
timers-missed = Während ich aus war, sind { $count } Timer abgelaufen.

## Excuses and announcements

not-ready = Ich sammle noch meine Gedanken. Frag mich gleich noch einmal.
lost-thread = Entschuldige, ich habe den Faden verloren. Bitte frag mich noch einmal.
lost-voice = Entschuldige, mir hat es kurz die Sprache verschlagen. Bitte frag mich noch einmal.
nothing-to-say = Dazu habe ich nichts zu sagen.
no-button = Ich habe keinen Knopf, also kann man mit mir auch nicht über einen sprechen.
part-broken = Mit mir stimmt etwas nicht. Was nicht arbeitet: { $part }.
part-microphone = das Mikrofon
part-loudspeaker = der Lautsprecher
part-capture = meine Aufnahme
part-playback = meine Wiedergabe
part-listener = mein Gehör
part-conductor = meine Gesprächsführung
forgotten-all = Ich habe alles vergessen.
forgotten-last = Das habe ich vergessen.
forgotten-late = Was ich vorhin nicht vergessen konnte, ist jetzt vergessen.
forget-failed = Ich konnte es nicht vergessen. Auf meine Karte lässt sich nicht schreiben, und die Worte stehen noch darauf. Ich verwende sie nicht, und ich versuche es weiter. Gelingt es nicht, muss die Karte ersetzt werden.
forget-slow = Meine Karte ist langsam. Ich sage dir, wenn es vergessen ist.
memory-damaged = Mein Gedächtnis war beschädigt. Ich habe ein neues angefangen.
mute-not-read = Ich konnte nicht lesen, ob mein Mikrofon aus war, also lasse ich es aus. Bitte schalte es wieder ein, wenn ich dich hören soll.
mute-off-not-kept = { $after ->
    [power-cut] Mein Mikrofon ist aus, aber ich konnte mir das nicht merken: nach einem Stromausfall ist es vielleicht wieder an.
   *[restart] Mein Mikrofon ist aus, aber ich konnte mir das nicht merken: nach einem Neustart ist es vielleicht wieder an.
}
mute-on-not-kept = Mein Mikrofon ist an, aber ich konnte mir das nicht merken: nach einem Neustart ist es vielleicht aus.

## A model server

server-away = Mein Modellserver antwortet nicht.
server-refused = Mein Modellserver hat abgelehnt. Der Befehl Interlude check sagt, warum.
server-thinks = Mein Modellserver denkt nach, statt zu antworten. Schalte dort das Nachdenken aus.
server-without-audio = Mein Modellserver nimmt keinen Ton an. Er braucht ein anderes Modell.
server-key = Mein Modellserver verlangt einen anderen Schlüssel.
server-address = Mein Modellserver kennt die Adresse oder das Modell nicht.
server-busy = Mein Modellserver hat zu viel zu tun. Bitte frag mich später.
server-context = Was wir gesagt haben, ist zu lang für meinen Modellserver.
server-no-tools = Das Modell auf meinem Modellserver kennt keine Werkzeuge.
server-no-model = Mein Modellserver kennt das Modell nicht.

## A start

settings-before = Meine Einstellungsdatei ist unbrauchbar. Ich mache mit den Einstellungen von vorher weiter.
settings-defaults = Meine Einstellungsdatei ist unbrauchbar. Ich starte ohne sie, und mit ausgeschaltetem Mikrofon. Berichtige die Datei, starte mich neu, und schalte das Mikrofon ein.
settings-ignored = In meinem Zustandsordner liegt eine zweite Einstellungsdatei. Ich benutze sie nicht. Wenn du sie nicht kennst, sieh in mein Protokoll.
release-left = Version { $left } ist nicht stabil gelaufen, also bin ich zu Version { $kept } zurückgekehrt.
releases-both-left = Die Versionen { $tried } sind beide nicht stabil gelaufen.
release-kept-unwell = Version { $version } hat ihre Prüfung dreimal nicht bestanden. Ich habe sie trotzdem behalten, weil sie eine Sicherheitslücke schließt.
system-left = Vom System { $left } bin ich zum System { $now } zurückgekehrt.
reset-done = Ich bin zurückgesetzt. Was wir gesagt haben, deine Stimme und deine Timer sind gelöscht.
reset-incomplete = Ich wurde zurückgesetzt, aber nicht alles ließ sich löschen. In meinem Protokoll steht, was noch da ist. Beim nächsten Start versuche ich es wieder. Bleibt es dabei, dann zerstöre oder ersetze die Karte.
reset-failed = Ich konnte nicht zurückgesetzt werden: auf meine Karte lässt sich nicht schreiben, und was wir gesagt haben, steht noch darauf. Starte mich neu, und versuche es noch einmal. Bleibt es dabei, dann zerstöre oder ersetze die Karte.
reset-card-incomplete = Nicht alles ließ sich von dieser Karte entfernen. Gib sie nicht weiter.

## Download of the large model

model-fetching = Ich lade mein großes Modell, { $size }. Bis es da ist, weiß ich nur wenig.
model-away = Ich kann mein großes Modell gerade nicht laden. Ich versuche es weiter.
model-full = Auf meiner Karte ist kein Platz für mein großes Modell, { $size }. Ich versuche es weiter.
model-card = Ich kann mein großes Modell nicht auf meine Karte schreiben. Ich versuche es weiter.
model-found = Ich habe mein Modell auf dem Stick gefunden. Lass ihn stecken, solange ich es kopiere.
model-part = Auf dem Stick ist nur ein Teil meines Modells.
model-part-lacks = { $count ->
    [one] Auf dem Stick ist nur ein Teil meines Modells. { $files } ist nicht vollständig.
   *[other] Auf dem Stick ist nur ein Teil meines Modells. { $files } sind nicht vollständig.
}
model-bad = Das Modell auf dem Stick ist unbrauchbar: seine Dateien sind nicht, was ihre Namen sagen.
model-here = Mein großes Modell ist da. Ich starte damit neu; gib mir eine Minute.
model-by-stick = Mein Modell kommt auf einem USB-Stick. Stecke ihn ein, während ich laufe.
and = { $first } und { $last }

## Set-up

setup-asked = Ich bin bereit, eingerichtet zu werden.
setup-no-network = Ich habe kein Netz.
setup-needs-cable = Ich habe kein Netz. Stecke ein Netzwerkkabel ein.
setup-needs-seed = Noch niemand hat mich eingerichtet. Schalte mich aus, und lege eine Datei namens interlude Punkt yaml auf meine Karte.
setup-file-misnamed = Die Datei { $name } auf der Karte wird nicht gelesen. Schreibe, was darin steht, in interlude.yaml.
setup-card-unusable = Was auf dieser Karte über mich steht, ist unbrauchbar. { $problem }
setup-by-cable = Ich bin per Kabel in deinem Netz.
setup-called = Mein Name ist dort { $name }.
setup-other-name = Auch ein anderes Gerät in deinem Netz heißt { $wanted }. Mein Name ist dort { $name }.
setup-join = { $kind ->
   *[digits] Um mich mit einem Telefon einzurichten, verbinde es mit dem WLAN namens Interlude { $number }. Sein Passwort sind fünfzehn Ziffern: { $words }. Öffne dann { $address } im Browser, falls sich keine Seite von selbst öffnet.
}
setup-no-wifi-of-my-own = Ich kann kein eigenes WLAN öffnen. { $problem }
setup-in-a-network = Ich bin jetzt in einem Netz. Die Einrichtung ist beendet.
setup-in-your-wifi = Ich bin jetzt in deinem WLAN. Die Einrichtung ist beendet.
setup-wifi-as-before = Ich bin in dem WLAN, das ich vorher hatte. Die Einrichtung ist beendet.
setup-joining = Danke. Ich gehe jetzt in dein Netz.
setup-unconfirmed = Dieses WLAN ist noch nicht bestätigt: Bis du es auf meiner Seite bestätigst, behalte ich auch das vorige und verbinde mich nicht mit Home Assistant.
setup-done = Ich bin in deinem Netz, und eingerichtet.
sign-dot = Punkt
sign-dash = Strich

wifi-password = Das WLAN { $wifi } nimmt das Passwort nicht an, das ich habe.
wifi-out-of-reach = Das WLAN { $wifi } ist nicht in Reichweite.
wifi-sent-away = Das WLAN { $wifi } weist mich ab: vielleicht hat sich sein Passwort geändert, oder es nimmt keine neuen Geräte an.
wifi-too-long = Das WLAN { $wifi } antwortet nicht rechtzeitig: es ist weit weg, oder sein Passwort hat sich geändert.
wifi-no-address = Das WLAN { $wifi } lässt mich ein, gibt mir aber keine Adresse.
wifi-timeout = Das WLAN { $wifi } lässt mich nicht ein, solange ich auch warte.
wifi-none = Es ist kein WLAN eingerichtet.
wifi-otherwise = Ich komme nicht in das WLAN { $wifi }.

## The page of a box in set-up

setup-identify = Hier bin ich. Ein Telefon in der Nähe hat nach mir gefragt.
setup-page-title = Dieses Gerät einrichten
setup-page-more = Weitere Einstellungen
setup-page-wifi = Dein WLAN
setup-page-password = Sein Passwort
setup-page-country = Land, in zwei Buchstaben (DE, AT, CH)
setup-page-hostname = Ein Name für dieses Gerät in deinem Netz (kann leer bleiben)
setup-page-card = Soundkarte (bleibt leer: sie wird von selbst gefunden)
setup-page-broker = MQTT-Broker von Home Assistant (kann leer bleiben)
setup-page-user = Benutzer beim Broker
setup-page-secret = Passwort beim Broker
setup-page-language = Sprache
setup-page-any-language = die gesprochene
setup-page-as-it-is = wie bisher
setup-page-mode = Es hört zu
setup-page-mode-open = einfach sprechen
setup-page-mode-wake-word = nach dem Weckwort
setup-page-mode-push-to-talk = per Knopf
setup-page-panel = Knopf und Licht
setup-page-panel-auto = von selbst gefunden
setup-page-model = Modell
setup-page-model-small = Das kleine Modell, das dabei ist
setup-page-model-gemma = Gemma 4 laden (4 GB, Lizenz: ai.google.dev/gemma)
setup-page-button = Einrichten
setup-page-too-many = Zu viele Versuche. Warte eine Minute, und versuche es dann noch einmal.
setup-page-other-origin = Diese Seite wurde von einer anderen aus aufgerufen.
setup-page-old = Diese Seite ist veraltet. Lade sie neu.
setup-page-thanks = Danke.
setup-page-joins-before = Das Gerät verlässt nun dieses WLAN und geht in
setup-page-joins-after = Es sagt laut, ob das geklappt hat; wenn nicht, kommt diese Seite wieder.
setup-page-wrong-none = { $what ->
    [hostname] „{ $value }“ ist kein Name für das Gerät. Nimm Buchstaben, Ziffern und Bindestriche, höchstens 63.
    [broker] „{ $value }“ ist kein Broker. Nimm einen Namen wie homeassistant.local oder eine Adresse.
    [timezone] „{ $value }“ ist keine Zeitzone. Nimm eine wie Europe/Berlin.
    [country] „{ $value }“ ist kein Land. Nimm zwei Großbuchstaben, zum Beispiel DE.
   *[card] „{ $value }“ ist keine Soundkarte. Nimm auto oder einen Namen von ALSA wie plughw:CARD=Array.
}
setup-page-wrong-language = Eine Sprache „{ $value }“ gibt es nicht. Nimm auto oder ein Kürzel aus zwei Buchstaben, zum Beispiel de oder en.
setup-page-wrong-mode = Einen Modus „{ $value }“ gibt es nicht. Es gibt { $there }.
setup-page-wrong-panel = Einen Anschluss „{ $value }“ für Knopf und Licht gibt es nicht. Es gibt { $there }.
setup-page-wrong-no-button = Der Modus push_to_talk geht nicht. Dieses Gerät hat keinen Knopf, also könnte nie jemand mit ihm sprechen.
setup-page-wrong-too-long = { $what ->
    [user] Der Benutzername für den Broker hat mehr als { $most } Zeichen oder solche, die nicht gehen.
    [password] Das Passwort für den Broker hat mehr als { $most } Zeichen oder solche, die nicht gehen.
   *[name] Der Name des Geräts hat mehr als { $most } Zeichen oder solche, die nicht gehen.
}
setup-page-wrong-localhost = Der Name localhost steht auf jedem Gerät für es selbst. Gib dem Gerät einen anderen Namen.
setup-page-wrong-no-broker = Zu einem Benutzernamen oder Passwort für den Broker fehlt der Broker.
setup-page-wrong-wifi-name = Der Name des WLANs muss 1 bis 32 Bytes haben.
setup-page-wrong-wifi-letters = Der Name des WLANs hat Zeichen, die sich nicht schreiben lassen.
setup-page-wrong-wifi-password = Das Passwort des WLANs muss 8 bis 63 Buchstaben, Ziffern und Zeichen ohne Umlaute haben. Andere kennt WPA nicht; lass es leer, wenn das WLAN keines hat.
setup-page-wrong-wifi-missing = Der Name des WLANs fehlt.
setup-page-wrong-nothing = Es wurde nichts eingegeben.
setup-page-wrong-not-whole = Die Eingabe kam nicht vollständig an. Versuche es noch einmal.
setup-page-wrong-not-asked = Es ist etwas dabei, wonach diese Seite nicht fragt.
setup-page-closes = Das Gerät schließt nun dieses WLAN. Es sagt laut, dass es eingerichtet ist.

## Die Seite für Browser

page-nav-live = Live
page-nav-settings = Einstellungen
page-nav-access = Zugang
page-nav-skip = Zum Inhalt
page-nav-main = Hauptmenü
page-save = Speichern
page-set = Setzen
page-state-starting = Startet
page-state-idle = Bereit
page-state-listening = Es hört dir zu
page-state-thinking = Denkt nach
page-state-speaking = Das Gerät spricht
page-state-holding = Hält für dich inne
page-state-muted = Das Mikrofon ist aus
page-state-failed = Etwas ist kaputt
page-state-idle-why = Sprich einfach, oder sieh hier zu.
page-state-listening-why = Es wartet, bis du fertig bist.
page-state-thinking-why = Die Antwort entsteht. Nichts verlässt das Haus.
page-state-speaking-why = Sprich jederzeit dazwischen: es hört auf.
page-state-holding-why = Es hat etwas gehört und schweigt, bis es weiß, was es war.
page-state-muted-why = Kein Ton vom Mikrofon geht irgendwohin.
page-state-failed-why = Unten steht, was fehlt.
page-short-idle = bereit
page-short-listening = du
page-short-thinking = denkt nach
page-short-speaking = das Gerät
page-short-holding = hält inne
page-short-muted = Mikrofon aus
page-short-failed = kaputt
page-verdict-backchannel = mhm
page-verdict-interruption = Unterbrechung
page-verdict-noise = Geräusch
page-pair-title = Diesen Browser einlassen
page-pair-intro = Wer im selben Raum ist, darf die Seite benutzen. Das Gerät sagt sechs Ziffern; gib sie hier ein.
page-pair-ask = Ziffern sagen
page-pair-again = Noch einmal sagen
page-pair-code = Sechs Ziffern
page-pair-passphrase = Kennwort
page-pair-enter = Einlassen
page-pair-or = Oder mit dem Knopf
page-pair-button-intro = Das Gerät sagt zwei Ziffern, und diese Seite zeigt zwei. Sind es dieselben, drücke den Knopf am Gerät.
page-pair-button = Den Knopf benutzen
page-pair-button-listen = Das Gerät sagt gleich zwei Ziffern. Höre bis zum Ende zu, bevor du seinen Knopf drückst.
page-pair-button-press = Hat das Gerät diese zwei Ziffern gesagt, drücke jetzt seinen Knopf. Hat es andere gesagt, drücke nicht: Jemand anders hat gefragt.
page-pair-button-pressed = Der Knopf wurde gedrückt. Gib jetzt das Kennwort ein.
page-pair-unheard = Die Ansage kam nicht bis zum Ende, oder danach war etwas anderes zu hören. Dann zählt der Knopf nicht. Versuche es noch einmal.
page-pair-asked = Das Gerät hat die Ziffern gesagt. Sie gelten zwei Minuten.
page-pair-printed = Gib die sechs Ziffern ein, die beim Start des Geräts ausgegeben wurden.
page-problem-missing = Diese Seite gibt es nicht
page-problem-missing-why = Die Adresse hat einen Fehler, oder sie ist veraltet.
page-problem-refused = Das wurde nicht angenommen
page-problem-refused-why = Die Seite war veraltet, oder ihr Formular kam von woanders. Lade die Seite neu und schick es noch einmal.
page-problem-stranger = Dieser Browser ist nicht eingelassen
page-problem-stranger-why = Er wurde nie eingelassen oder wurde entfernt. Lade die Seite neu und lass ihn ein.
page-problem-often = Zu viel auf einmal
page-problem-often-why = Warte eine Minute, dann versuch es noch einmal.
page-problem-busy = Das Gerät antwortet nicht
page-problem-busy-why = Es startet gerade oder hat viel zu tun. Versuch es gleich noch einmal.
page-problem-wrong = Das ging nicht
page-problem-wrong-why = Etwas daran passt nicht oder hat sich inzwischen geändert. Geh zurück und sieh es dir noch einmal an.
page-problem-back = Zurück
page-certificate-soon = Das Zertifikat dieser Seite läuft am { $day } ab. Lass ein neues ausstellen; die Seite nimmt es, sobald es geschrieben ist.
page-certificate-over = Das Zertifikat dieser Seite ist am { $day } abgelaufen. Browser warnen davor. Lass ein neues ausstellen; die Seite nimmt es, sobald es geschrieben ist.
page-certificate-refused = Ein neues Zertifikat wurde nicht angenommen, das vorige gilt weiter: { $why }
page-pair-wrong = Das passt nicht. Nach fünf Versuchen braucht es neue Ziffern.
page-pair-wait = Das Gerät wurde zu oft gefragt. Versuche es in { $minutes } min wieder, oder schalte das Gerät aus und wieder ein.
page-pair-night = Nachts ({ $night }) sagt das Gerät keine Ziffern. Schalte es aus und wieder ein: Danach tut es das 15 Minuten lang.
page-pair-busy = Ein anderer Browser wartet auf den Knopf. Versuche es in zwei Minuten wieder, oder nimm die sechs Ziffern.
page-pair-silent = Das Gerät ist gerade nicht zu hören: Die Lautstärke ist 0, oder seine Stimme oder sein Lautsprecher geht nicht.
page-pair-plain = Diese Verbindung ist nicht verschlüsselt: Sie ist für dein eigenes Netz gedacht.
echo-test = Ich spreche, um mein eigenes Echo zu messen. Bitte sei ein paar Sekunden still. Wer sich selbst hört, denkt, dass jemand spricht; darum nehme ich meine eigene Stimme aus dem heraus, was ich höre.
pairing-digits = Jemand möchte meine Seite öffnen. Die Ziffern sind: { $digits }.
pairing-button = Jemand möchte meine Seite öffnen. Drücke meinen Knopf nur, wenn du dort diese Ziffern siehst: { $digits }.
pairing-guessed = Jemand hat für meine Seite fünfmal ein falsches Kennwort oder falsche Ziffern eingegeben.
pairing-done = Ein neuer Browser darf jetzt meine Seite benutzen: { $name }.
page-live-picture = Beide Stimmen in der letzten Minute
page-live-you = du
page-live-box = das Gerät
page-live-resumed = redet weiter
page-live-wait = Verbindet sich mit dem Gerät
page-live-lost = Die Verbindung ist weg; neuer Versuch
page-live-noscript = Das Bild braucht JavaScript. Alles andere auf dieser Seite geht ohne.
page-live-events = Was geschah
page-live-empty = Noch nichts. Sag etwas zu dem Gerät.
page-live-half = die Hälfte der Male binnen
page-live-most = 19 von 20 binnen
page-live-count = Male bisher
page-live-quick = Mikrofon, und was gerade gesagt wird
page-live-since = seit dem Start
page-live-words = Worte der Antworten zeigen, solange diese Seite offen ist
page-live-span = Wie viel der letzten Minute gezeichnet wird
page-live-span-last = Letzte { $seconds } s
page-live-span-whole = Ganze Minute
page-live-timers-set = { $count ->
        [one] Ein Timer oder Wecker ist gestellt, fällig: { $due }.
       *[other] { $count } Timer und Wecker sind gestellt; der nächste ist fällig: { $due }.
    }
page-live-timers-ring = Ein Timer oder Wecker klingelt.
page-live-refused = Das ging nicht. { $why }
page-live-offline = Es gibt keine Verbindung zum Gerät.
page-notice-set-volume = Lautstärke { $percent } %: eingestellt.
page-notice-set-mode = Es hört { $mode } zu: eingestellt.
page-notice-set-voice = Stimme { $voice }: eingestellt.
page-wrong-no-button = Dieses Gerät hat keinen Knopf, den man drücken könnte.
page-live-words-why = Diese Seite behält keine Worte.
page-live-volume = Lautstärke
page-live-mode = Es hört zu
page-live-voice = Stimme
page-mode-open = immer
page-mode-wake-word = nach dem Weckwort
page-mode-push-to-talk = solange der Knopf gedrückt ist
page-mode-no-button = { $mode } (es gibt keinen Knopf)
page-live-mute = Mikrofon ausschalten
page-live-unmute = Mikrofon einschalten
page-live-stop = Aufhören zu reden
page-live-cut = Der Schalter am Gehäuse trennt das Mikrofon. Nur der Schalter hebt das auf.
page-live-no-unmute = Eingeschaltet wird es am Gerät, so will es sein Besitzer.
page-live-broken = Geht nicht: { $parts }
page-ev-onset = Du hast begonnen zu sprechen
page-ev-onset-over = Du hast dazwischengesprochen
page-ev-pause = still nach { $ms } ms
page-ev-backchannel = mhm: das Gerät redet weiter
page-ev-interruption = Unterbrechung: es hört dir zu
page-ev-noise = Geräusch: das Gerät redet weiter
page-ev-sure = { $p } % sicher nach { $ms } ms
page-ev-resume = redete weiter, wo es war
page-ev-resume-back = redete weiter, das letzte Wort noch einmal
page-ev-stop = Antwort beendet: { $heard } s gehört, { $left } s nicht gesagt
page-ev-finish = die Antwort wurde zu Ende gesagt
page-ev-answer = die Antwort begann
page-ev-speech-end = Du warst fertig
page-ev-wake = Weckwort
page-ev-heard = gesagt
page-ev-unsaid = nicht gesagt
page-access-title = Wer diese Seite benutzen darf
page-access-intro = Jeder dieser Browser wurde mit den Ziffern oder dem Knopf eingelassen.
page-access-this = dieser
page-access-since = eingelassen
page-access-seen = zuletzt gesehen
page-access-revoke = Diesen Browser entfernen
page-access-log-out = Abmelden (diesen Browser entfernen)
page-notice-logged-out = Dieser Browser ist abgemeldet. Neue Ziffern oder der Knopf lassen ihn wieder ein.
page-notice-revoked = Dieser Browser darf die Seite nicht mehr benutzen.
page-access-passphrase = Kennwort für neue Browser
page-access-passphrase-on = Neben den Ziffern wird ein Kennwort verlangt. Speichere ein leeres, um darauf zu verzichten.
page-access-passphrase-off = Keines wird verlangt. Wer die Ziffern hört, kommt hinein.
page-notice-saved = Gespeichert.
page-live-stops = Wie schnell es schweigt, wenn du sprichst
page-live-answers = Wie schnell es antwortet
page-nav-own = Dieses Gerät
page-own-runs = Was läuft
page-own-software = Software
page-own-model = Modell
page-own-house = Home Assistant
page-own-house-none = nicht eingerichtet
page-own-house-here = der Broker ist erreichbar
page-own-house-gone = der Broker ist nicht erreichbar
page-own-parts = Geht nicht
page-own-parts-all = nichts: alles läuft
page-part-capture = Aufnahme
page-part-listener = Gehör
page-part-words = Aktivierungs- und Stoppwörter
page-part-thinker = Sprachmodell
page-part-speaker = Stimme
page-part-playback = Wiedergabe
page-part-conductor = Gesprächsführung
page-part-panel = Knopf und Licht
page-part-link = Verbindung zum Haus
page-part-page = Diese Seite
page-part-the-microphone = Mikrofon
page-part-the-loudspeaker = Lautsprecher
page-own-restart = Neu starten
page-own-restart-why = Das Gerät schweigt einige Sekunden. Ein ausgeschaltetes Mikrofon bleibt aus.
page-own-timers = Timer und Wecker
page-own-timers-none = Keiner ist gestellt. Sag es laut.
page-own-timers-some =
    { $timers ->
        [one] Ein Timer
       *[other] { $timers } Timer
    } und { $alarms ->
        [one] ein Wecker
       *[other] { $alarms } Wecker
    }; der nächste ist fällig: { $due }.
page-own-memory = Gedächtnis
page-own-memory-keeps = Höchstens { $turns } Gesprächsbeiträge werden behalten, auf dem Gerät und nirgends sonst.
page-own-memory-none = Nichts Gesagtes wird behalten.
page-own-forget-last = Das Letzte vergessen
page-own-forget = Alles vergessen
page-own-forget-sure = Alles wird auf der Karte überschrieben. Nichts bringt es zurück. Das Gerät sagt, wenn es fertig ist.
page-own-forget-yes = Ja, alles vergessen

## Die Seite: was man ausprobieren kann.

page-nav-try = Ausprobieren
page-try-check = Was das Gerät an sich auszusetzen hat
page-try-check-intro = Es sieht nach Ton, Karte, Speicher, Stimmen und mehr. Das dauert einige Sekunden; Gespräche gehen dabei weiter.
page-try-check-begin = Nachsehen
page-try-check-again = Noch einmal nachsehen
page-try-check-runs = Es sieht nach. Das dauert einige Sekunden.
page-try-check-failed = Daraus wurde nichts. Versuche es in einer Minute wieder; wer eine Shell des Geräts hat (ssh), sieht mehr mit dem Befehl sudo interlude check.
page-try-check-unseen = Von hier nicht zu sehen: das Netz, was der Broker sagt, ein eigener Modellserver, Prüfsumme und Prompt des Modells. Wer eine Shell des Geräts hat (ssh), sieht sie dort mit dem Befehl sudo interlude check, der auch zu jedem Befund mehr sagt.
page-finding-ok = gut
page-finding-warning = zu wissen
page-finding-problem = zu beheben
page-find-at-software = Software
page-find-at-cores = Prozessor
page-find-at-permissions = Was das System erlaubt
page-find-at-memory = Arbeitsspeicher
page-find-at-disk = Platz auf der Karte
page-find-at-heat-power = Wärme und Strom
page-find-at-page = Verschlüsselung dieser Seite
page-find-at-secrets = Schlüssel
page-find-at-settings = Einstellungsdatei
page-find-at-release = Versionen
page-find-at-model = Sprachmodell
page-find-at-voice = Stimme
page-find-at-echo = Echo
page-find-at-turns = Ende einer Frage
page-find-at-house = Broker des Hauses
page-find-at-panel = Knopf und Licht
page-find-at-sound-card = Soundkarte
page-find-at-clock = Mikrofon und Lautsprecher
page-find-software = { $listed }.
page-find-software-lacks = Ein Teil der Software fehlt: { $package }. Installiere Interlude neu.
page-find-software-32 = Dieses System hat 32 Bit, und Interlude braucht 64: Installiere dessen 64-Bit-Ausgabe.
page-find-cores = { $count } Kerne, und jeder Teil des Geräts hat die, die für ihn gedacht sind.
page-find-cores-few = { $count } Kerne: weniger, als für das Gerät vorgesehen sind. Es arbeitet, aber Antworten kommen vielleicht später.
page-find-cores-shared = Das Sprachmodell teilt seine Kerne mit anderen Teilen; sind die beschäftigt, ist es 2- bis 5-mal langsamer.
page-find-realtime = Ton geht auf diesem Gerät allem anderen vor.
page-find-realtime-not = Das System lässt Ton nicht allem anderen vorgehen: Ist das Gerät beschäftigt, kann der Ton aussetzen. Auf unserer Karte ist das eingestellt; sonst sagt „interlude check“ in einer Shell des Geräts, was zu tun ist.
page-find-locking = Ton bleibt im Arbeitsspeicher und wird nie ausgelagert.
page-find-locking-not = Das System darf auslagern, was der Ton braucht: Dann kann er aussetzen. Auf unserer Karte ist das eingestellt; sonst sagt „interlude check“ in einer Shell des Geräts, was zu tun ist.
page-find-landlock = Jeder Teil des Geräts kommt nur an seine eigenen Dateien.
page-find-landlock-none = Das System kann die Teile des Geräts nicht von den Dateien der anderen fernhalten: Seinem Kernel fehlt Landlock. Das Gerät arbeitet auch so; ein Fehler in einem Teil reichte nur weiter. „interlude check“ in einer Shell des Geräts sagt, was zu tun ist.
page-find-memory = { $have } MiB; gebraucht werden höchstens { $need }.
page-find-memory-short = Dieses Gerät hat { $have } MiB Arbeitsspeicher, und { $need } können gebraucht werden. Wähle ein kleineres Sprachmodell.
page-find-disk = { $mib } MiB sind frei.
page-find-disk-full = Nur { $mib } MiB sind frei, und { $least } werden gebraucht. Entferne Modelle, die du nicht benutzt.
page-find-disk-locked = Das Gerät kann nicht auf seine Karte schreiben: Es würde sich nichts merken. Schalte es aus und ein; hilft das nicht, ist die Karte verschlissen und muss ersetzt werden.
page-find-power-now = Die Stromversorgung ist im Moment zu schwach. Nimm das offizielle Netzteil mit 27 W.
page-find-power-since = Die Stromversorgung war seit dem Start zeitweise zu schwach. Nimm das offizielle Netzteil mit 27 W.
page-find-heat-now = Das Gerät bremst sich im Moment, weil es zu heiß ist. Gib ihm einen aktiven Kühler und Luft.
page-find-heat-since = Das Gerät hat sich seit dem Start zeitweise gebremst, weil es zu heiß war. Gib ihm einen aktiven Kühler und Luft.
page-find-hot = { $degrees } °C: Ab 80 bremst es sich. Gib ihm einen aktiven Kühler und Luft.
page-find-warm = { $degrees } °C.
page-find-certificate = Für { $names }, bis { $day }.
page-find-certificate-ends = Das Zertifikat endet am { $day }. Wer es ausgestellt hat, muss ein neues ausstellen; die Seite nimmt es, sobald es auf dem Gerät liegt.
page-find-certificate-bad = Das Zertifikat ist nicht brauchbar. Diese Seite läuft mit dem bisherigen weiter, bis das Gerät neu startet. „interlude check“ in einer Shell des Geräts sagt, was daran falsch ist.
page-find-secret = Den Schlüssel des Modellservers kann nur das Gerät lesen.
page-find-secret-in-address = Die Adresse des Modellservers in der Einstellungsdatei enthält eine Anmeldung oder einen Schlüssel. Er gehört in eine eigene Datei: siehe „thinking.remote.key_file“ im Handbuch.
page-find-secret-gone = Die Datei mit dem Schlüssel des Modellservers fehlt. Lege sie wieder an, oder leere „thinking.remote.key_file“ in der Einstellungsdatei.
page-find-secret-open = Andere auf diesem Gerät können den Schlüssel des Modellservers lesen. Wer das Gerät betreut, gibt der Datei in einer Shell des Geräts den Modus 0600.
page-find-settings-ignored = Im Zustandsordner des Geräts liegt eine zweite Einstellungsdatei. Das Gerät benutzt sie nicht. „interlude check“ in einer Shell des Geräts nennt sie; was davon gebraucht wird, gehört nach /etc/interlude/settings.yaml, und dann lässt sie sich löschen.
page-find-release-left = Eine Version lief hier nicht richtig. Die Seite Software sagt, welche, und was das Gerät getan hat.
page-find-model = { $model } ist da.
page-find-model-server = Ein eigener Server antwortet anstelle eines Modells auf dem Gerät.
page-find-voice = { $voice } spricht.
page-find-voice-none = Es hat noch keine Stimme gesprochen. Warte eine Minute, und sieh noch einmal nach.
page-find-no-espeak = Fällt eine Stimme aus, springt nichts ein: Das Paket espeak-ng fehlt. Auf unserer Karte ist es da; sonst installiert es, wer das Gerät betreut.
page-find-echo = Das Gerät nimmt seine eigene Stimme aus dem heraus, was es hört.
page-find-echo-none = Das Gerät überlässt es der Soundkarte, seine Stimme aus dem herauszunehmen, was es hört, wie die Einstellungen es wollen.
page-find-turns = Ob eine Frage zu Ende ist, wird nach dem Klang beurteilt, in { $ms } ms.
page-find-turns-fixed = Eine Frage ist nach { $ms } ms Stille zu Ende, wie die Einstellungen es wollen.
page-find-turns-lost = Eine Frage ist nach { $ms } ms Stille zu Ende: Was nach dem Klang urteilen würde, fehlt oder ist beschädigt. Installiere Interlude neu.
page-find-turns-slow = Eine Frage ist nach { $ms } ms Stille zu Ende: Dieses Gerät ist zu langsam, um rechtzeitig nach dem Klang zu urteilen.
page-find-house = Der Broker ist erreichbar.
page-find-house-gone = Der Broker ist nicht erreichbar. Teste ihn unter Einstellen: Dort steht, warum.
page-find-panel-hat = Auf den Stiften sitzt eine Platine, die das Gerät nicht kennt ({ $hat }): Knopf und Licht bleiben unbenutzt. Sind sie daneben angeschlossen, wähle die Platine unter Einstellen.
page-find-button = Der Knopf funktioniert.
page-find-button-unused = Der Knopf wurde seit dem Start nicht gedrückt. Wurde er es doch, ist ein Draht lose.
page-find-button-stuck = Der Knopf ist gedrückt, oder sein Draht hat Masseschluss: Er bleibt unbeachtet. Sieh nach den Drähten an Stift 9 und 11.
page-find-button-bounces = Der Knopf prellt: Er bleibt unbeachtet. Sieh nach den Drähten an Stift 9 und 11, oder nimm einen anderen Knopf.
page-find-switch-cuts = Der Stummschalter trennt das Mikrofon. Schließe ihn; ist er geschlossen, ist sein Draht an Stift 13 oder 14 lose.
page-find-switch-unread = Das Mikrofon ist aus: Den Einstellungen nach gibt es einen Stummschalter, aber nichts, das ihn liest. Ändere panel.gpio oder panel.mute_switch in der Einstellungsdatei.
page-find-light-fails = Das Licht funktioniert nicht. Sieh nach seinen Drähten und danach, was dafür unter Einstellen gewählt ist.
page-find-cards = Da: { $names }.
page-find-card-refused = Das Gerät darf manche Soundgeräte nicht öffnen. Auf unserer Karte darf es das; sonst muss sein Benutzer in der Gruppe audio sein.
page-find-card-no-capture = Das Gerät hört nichts: Sein Mikrofon fehlt oder fällt aus. Stecke eine Soundkarte ein, die Mikrofon und Lautsprecher hat.
page-find-card-no-playback = Das Gerät gibt nichts wieder: Sein Lautsprecher fehlt oder fällt aus. Stecke eine Soundkarte ein, die Mikrofon und Lautsprecher hat.
page-find-card-gone = Das Gerät hört nichts und gibt nichts wieder: Seine Soundkarte fehlt oder fällt aus. Stecke eine ein, die Mikrofon und Lautsprecher hat.
page-find-card-held = Das Gerät hört und gibt wieder.
page-find-card-auto = Das Gerät hat sie selbst gewählt.
page-find-card-default = Vor der Karte liegt der Mischer des Systems, der alles verzögert. Setze „card.capture“ und „card.playback“ in der Einstellungsdatei auf auto.
page-find-two-clocks = Mikrofon und Lautsprecher sind zwei Geräte, deren Uhren auseinanderlaufen: Das Gerät wird sich selbst hören. Nimm ein Gerät, das beides hat.
page-try-light = Das Licht
page-try-light-intro = Sieh auf das Gerät und drücke eines: Das Licht zeigt es vier Sekunden lang, danach ebenso lang, was wirklich ist. Solange du mit dem Gerät sprichst, zeigt es nichts anderes.
page-try-light-none = Dieses Gerät hat kein Licht.
page-try-show = Zeigen
page-try-stop = Aufhören
page-try-tone = Lautsprecher
page-try-tone-intro = Ein Ton, der in sechs Sekunden von 100 bis 7200 Hz steigt, so laut wie die Stimme. Er soll gleichmäßig klingen; ein Scheppern, eine Lücke oder ein frühes Ende zeigt, wo der Lautsprecher versagt. Sprich hinein, drücke den Knopf oder beende ihn hier: Dann hört er auf.
page-try-tone-begin = Ton abspielen
page-goes-on-tone = Der Ton erklingt.
page-refused-busy = Jetzt nicht: Jemand spricht, oder das Gerät. Versuche es, wenn es still ist.
page-refused-no-voice = Der Lautsprecher ist nicht zu gebrauchen: Seine Karte oder der Teil dafür fehlt. Sieh nach, was das Gerät an sich auszusetzen hat.
page-refused-no-answer = Das Gerät hat nicht geantwortet. Versuche es noch einmal.
page-try-microphone = Mikrofon
page-try-microphone-intro = Sprich so, wie du mit dem Gerät sprichst: Es nimmt drei Sekunden auf und spielt sie dir vor. Der Ton verlässt das Gerät nicht, wird nirgends gespeichert und danach überschrieben. Was du solange sagst, gilt nicht dem Gerät.
page-try-microphone-light = Das Licht zeigt, dass es aufnimmt.
page-try-microphone-begin = Drei Sekunden aufnehmen
page-goes-on-microphone = Sprich jetzt, und höre dann zu.
page-try-peak = Lautester Wert
page-try-speech = Lauteste Silben
page-try-noise = Zwischen Wörtern
page-try-offset = Gleichanteil
page-try-clipped = Abgeschnittene Werte
page-try-gain = Lauter abgespielt um
page-microphone-good = Der Pegel stimmt: Deine Stimme hebt sich klar vom Raum ab, und nichts ist abgeschnitten.
page-microphone-nothing = Das Mikrofon gibt gar nichts. Sieh nach einem Schalter daran und nach dem Stecker; dann nach seinem Aufnahmepegel in alsamixer.
page-microphone-clipped = Die lautesten Werte sind abgeschnitten. Senke den Aufnahmepegel in alsamixer, oder sprich von weiter weg.
page-microphone-offset = Der Ton hat einen Gleichanteil. Dem, was gehört wird, schadet er nicht, aber er kostet Umfang; ein anderes Mikrofon oder eine andere Karte hätte weniger.
page-microphone-noisy = Der Raum oder das Eigenrauschen des Mikrofons ist laut. Versuche es in Ruhe; bleibt es so, senke den Aufnahmepegel in alsamixer, oder halte es von Lüftern und Netzteilen fern.
page-microphone-nobody = Niemand hebt sich vom Raum ab. Sprich, während es aufnimmt; hast du gesprochen, geh näher heran, oder hebe den Aufnahmepegel in alsamixer.
page-microphone-quiet = Deine Stimme ist leise. Hebe den Aufnahmepegel in alsamixer, oder geh näher heran.
page-refused-muted = Das Mikrofon ist aus. Schalte es zuerst ein.
page-refused-no-microphone = Das Mikrofon ist nicht zu gebrauchen: Seine Karte oder der Teil dafür fehlt. Sieh nach, was das Gerät an sich auszusetzen hat.
page-light-recording = Nimmt auf, was du ausprobierst, und spielt es ab
page-try-echo = Echo
page-try-echo-intro = Das Gerät sagt etwas und misst, wie viel seiner eigenen Stimme es aus dem Gehörten entfernt. Sei so lange bitte still.
page-try-echo-begin = Echo messen
page-try-echo-table = Pegel in dBFS, während das Gerät klang ({ $seconds } s)
page-try-echo-heard = Echo
page-try-echo-left = Rest
page-try-echo-noise = Raum
page-try-echo-taken = entfernt
page-try-echo-all = alle
page-goes-on-echo = Es spricht und misst. Sei einen Augenblick still.
page-echo-good = Gut: Was von der eigenen Stimme bleibt, stört nicht. Du kannst ihm ins Wort fallen.
page-echo-fair = Mäßig: Leise Worte während seiner Antwort könnten untergehen. Rücke den Lautsprecher vom Mikrofon weg, oder stelle ihn leiser.
page-echo-poor = Schlecht: Es hört viel von seiner eigenen Stimme. Nimm ein Gerät als Mikrofon und Lautsprecher (zwei haben zwei Takte); rücke sie auseinander; stelle leiser; suche, was scheppert. docs/echo.md sagt mehr.
page-echo-unheard = Es gibt kein Echo zu entfernen: Die Karte tut es selbst, oder der Lautsprecher erreicht das Mikrofon nicht.
page-echo-none = Die Echounterdrückung ist in den Einstellungen aus: Die Karte muss es tun. Vergleiche den Rest mit dem Raum; ist er viel lauter, setze hearing.echo.canceller auf auto.
page-echo-silent = Es klang zu wenig, um etwas zu sagen. Sieh nach dem Lautsprecher, versuche es noch einmal und lass es ausreden.
page-echo-clipped = Der Lautsprecher übersteuert das Mikrofon: Was abgeschnitten ist, lässt sich nicht entfernen. Senke die Lautstärke oder den Aufnahmepegel.
page-echo-itself = Es hat dabei ein Geräusch für jemanden gehalten. Hat niemand eines gemacht, war es seine eigene Stimme.
page-try-level = Was es gerade hört
page-try-wake = Aktivierungswort
page-try-wake-intro = Es wartet auf „{ $phrase }“ mit Empfindlichkeit { $sensitivity }. Sprich es so, wie du es meistens sagst, von dort, wo du meistens bist. Wird es überhört und steht hier, erhöhe die Empfindlichkeit; wird es gehört, obwohl es niemand gesagt hat, senke sie.
page-try-wake-now = Wie nahe es gerade ist
page-try-wake-last = Die letzten zehn, und ab welcher Empfindlichkeit es gehört worden wäre
page-try-wake-when = Wann
page-try-wake-score = Wert
page-try-wake-what = Es wurde
page-try-wake-heard = gehört
page-try-wake-from = überhört; gehört ab { $sensitivity }
page-try-wake-never = überhört; zu weit weg für jede
page-try-wake-none = Noch ist nichts nahe gekommen. Nur die Netze für Aktivierungswörter nennen Werte (okay nabu, hey jarvis, hey mycroft, alexa); andere Erkenner sagen, was sie gehört haben.
page-try-wake-off = Es hört gerade ohne Aktivierungswort zu.
page-light-steady = steht
page-light-breath = atmet
page-light-blink = { $times } × in { $seconds } s
page-light-white = weiß
page-light-red = rot
page-light-amber = orange
page-light-blue = blau
page-light-green = grün
page-light-violet = violett
page-light-reset-armed = Noch ein Druck, und alles ist weg
page-light-reset-warning = Weiter halten setzt zurück; oder loslassen
page-light-setup-warning = Weiter halten zum Einrichten
page-light-muted = Das Mikrofon ist aus
page-light-no-card = Keine Soundkarte, oder nur eine halbe
page-light-failed = Ein Teil ist ausgefallen
page-light-updating = Ein Update; Stecker stecken lassen
page-light-setup = Wartet aufs Einrichten
page-light-holding = Hält inne; hat etwas gehört
page-light-listening = Hört dich
page-light-thinking = Denkt nach
page-light-ringing = Ein Timer oder Wecker klingelt
page-light-speaking = Spricht
page-light-starting = Startet
page-light-too-hot = Zu heiß, oder das Netzteil ist zu schwach
page-light-fetching = Holt sein Modell
page-light-no-broker = Der Broker des Hauses ist weg
page-light-idle = Bereit

## Die Seite: was auf diesem Gerät dem Besitzer gehört.

page-own-all = Alle zeigen
page-timers-timer = Timer
page-timers-alarm = Wecker
page-timers-rings = klingelt
page-timers-left = noch:
page-timers-at = fällig um { $when }
page-timers-of = von { $length }
page-timers-cancel = Löschen
page-timers-stop = Klingeln beenden
page-notice-cancelled = Gelöscht.
page-nav-set = Einstellen
page-set-now = Sofort
page-set-now-why = Das gilt sofort.
page-set-hearing = Hören und Sprache
page-set-language = Sprache
page-set-language-any = die, in der man mit ihm spricht
page-set-phrase = Aktivierungswort
page-set-phrase-why = Wörter in Kleinbuchstaben. Am besten gehört werden okay nabu, hey jarvis, hey mycroft und alexa.
page-set-sensitivity = Empfindlichkeit
page-set-sensitivity-why = Weiter rechts wird das Wort öfter gehört, auch wenn es niemand gesagt hat.
page-set-house = Name und Haus
page-set-name = Name des Geräts
page-set-broker = MQTT-Broker
page-set-broker-why = Ein Name oder eine Adresse; leer: keiner.
page-set-port = Port
page-set-port-why = 0: 1883, mit TLS 8883.
page-set-user = Benutzer
page-set-secret = Passwort
page-set-secret-why = Es wird nie angezeigt. Leer bleibt es, wie es ist. Für einen anderen Broker, Port oder Benutzer oder eine andere Verschlüsselung wird es neu eingegeben.
page-set-certificate = Der Broker unter { $at } zeigt ein anderes Zertifikat als bisher. Das Gerät verbindet sich nicht mit ihm. Nimm es nur an, wenn du das Zertifikat selbst geändert hast. SHA-256: { $sha256 }
page-set-certificate-accept = Dieses Zertifikat annehmen
page-set-tls = Verschlüsseln (TLS) und das Zertifikat des Brokers prüfen
page-set-panel = Knopf und Licht
page-set-board = Angeschlossen an
page-set-light = Licht
page-set-brightness = Helligkeit
page-set-night-brightness = Helligkeit in der Nacht
page-set-night = Nacht
page-set-night-why = Von und bis, wie 22:00-07:00; leer: nie.
page-set-anew = Was geändert wurde, gilt nach einem Neustart.
page-set-undo = Letzte Änderung zurücknehmen
page-set-awaited = Die Änderung wird geschrieben.
page-set-nobody = Die Änderung wurde nicht ausgeführt. Im Protokoll steht mehr; über ssh geht es auch.
page-set-meanwhile = Die Einstellungen wurden inzwischen geändert. Lade die Seite neu.
page-set-broken = Das Gerät läuft mit den vorigen Einstellungen. Bringe die Datei mit einem Editor in Ordnung; dann geht es hier wieder.
page-notice-undone = Die letzte Änderung ist zurückgenommen.
page-own-read = Lesen, was behalten wurde
page-memory-count = Behaltene Gesprächsbeiträge: { $turns }
page-memory-heard-so = (wie das Modell es verstanden hat)
page-memory-speech = { $seconds } s gesprochen
page-memory-cut = (dort unterbrochen)
page-memory-forget = Das vergessen
page-memory-going = Wird auf der Karte überschrieben.
page-memory-failed = Es konnte nicht vergessen werden: { $why }
page-memory-unreadable = Das Gedächtnis lässt sich gerade nicht lesen. Lade die Seite neu.
page-memory-empty = Noch ist nichts behalten.
page-memory-pages = Seiten
page-memory-newer = Neuere
page-memory-older = Ältere
page-own-software-more = Versionen: einspielen, zurückgehen
page-software-runs = Läuft jetzt
page-software-system = System
page-software-before = Davor
page-software-left = Lief nicht stabil
page-software-ready = Liegt bereit
page-software-none = Nichts Neueres liegt bereit.
page-software-no-appliance = Von dieser Seite aus wird hier keine Version eingespielt und zu keiner zurückgegangen: Diese Software wurde von Hand eingerichtet, und wer sie eingerichtet hat, wechselt ihre Version ebenso. Es läuft Version { $version }.
page-software-signed = Nur Signiertes wird eingespielt. Bewährt es sich nicht, geht das Gerät von selbst zurück.
page-software-looks = Das Gerät sieht jede Nacht nach einer neuen Version und spielt ein, was es findet.
page-software-install = Einspielen
page-software-asked = Es ist angefordert. Das Gerät beginnt gleich.
page-software-unwell = { $version } hat die Prüfung dreimal nicht bestanden: { $why }. Es wurde trotzdem behalten, weil es eine Sicherheitslücke schließt, und das Gerät kehrt zu keiner älteren Version zurück. Wenn es nicht funktioniert, suche nach einer neueren, oder frage den Herausgeber.
page-software-going = { $version } wird eingespielt
page-software-going-why = Das Gerät startet dabei neu, und diese Seite mit ihm.
page-software-failed = { $version } ist nicht eingespielt: { $why }
page-software-done = { $version } ist eingespielt und hat sich bewährt.
page-software-busy = Gerade wird etwas eingespielt oder erprobt. Warte, bis das vorbei ist.
page-software-not-ready = So eine Version liegt hier nicht zum Einspielen bereit.
page-software-no-look = Von hier aus kann dieses Gerät nicht nach einer neueren Version sehen.
page-look-title = Nach einer neuen Version sehen
page-look-now = Jetzt nachsehen
page-look-no-address = Dieses Gerät hat keine Adresse, bei der es von selbst nach neuen Versionen sehen könnte. Wer es betreut, kann eine eintragen; das Kapitel „Many boxes“ des Handbuchs sagt, wie.
page-look-stick = Von einem USB-Stick
page-look-stick-why = Lege eine Datei .release oder .system auf einen Stick, nicht in einen Ordner darauf, und stecke den Stick ins Gerät. Was neuer ist und von jemandem signiert, dem das Gerät vertraut, wird kopiert und liegt dann oben bereit; eingespielt wird dabei nichts.
page-look-stick-now = Auf dem Stick nachsehen
page-look-goes-on-web = Das Gerät sieht nach einer neuen Version.
page-look-goes-on-stick = Das Gerät sieht auf dem Stick nach. Steckt keiner, stecke ihn jetzt ein; es wartet 15 Minuten.
page-look-fetches = Version { $version } wird auf die Karte geholt.
page-look-last = Zuletzt nachgesehen { $when }: { $found }
page-look-stale = Seit 30 Tagen ist keine Suche nach Updates gelungen. Dem Gerät kann also ein Sicherheitsupdate fehlen: Sieh nach, ob es ins Internet kommt, oder frage, wer seine Updates veröffentlicht.
page-look-none = Es gibt nichts Neueres. Hier ist { $kept }, angeboten wird { $there }.
page-look-left = { $version } lief hier nicht stabil und wird nicht noch einmal geholt.
page-look-failed = { $version } hat sich hier nicht bewährt und wird nicht noch einmal von selbst eingespielt, nur von Hand.
page-look-returned = Von { $version } ist hier jemand zurückgegangen; diese Version wird nicht noch einmal von selbst eingespielt, nur von Hand.
page-look-asked = { $version } wurde gefunden und wird als Nächstes eingespielt.
page-look-stick-none = Auf dem Stick liegt keine neuere Version für dieses Gerät.
page-look-stick-brought = { $versions } wurde vom Stick kopiert und liegt bereit.
page-software-back = Zurückgehen
page-software-back-why = Das Gerät verstummt für einige Sekunden, während Interlude { $version } erprobt wird wie damals, als es neu war. Bewährt es sich nicht, läuft weiter, was jetzt läuft. Was jetzt läuft, bleibt auf der Karte.
page-software-back-to = Zurück zu Interlude { $version }
page-software-back-yes = Ja, zurückgehen
page-software-system-before = System davor
page-software-system-trial = Das Gerät startet mit dem System { $version }. Bewährt sich das nicht, startet es neu mit dem bisherigen. Das dauert einige Minuten, und so lange antwortet niemand.
page-software-system-back-to = Zurück zum System { $version }
page-software-system-back-why = Das ganze Gerät startet neu mit dem System { $version } und behält es, wenn es sich bewährt; sonst startet es neu mit dem, das jetzt läuft. Das dauert einige Minuten, und so lange antwortet niemand. Einstellungen, Gedächtnis und Modelle bleiben.
page-software-system-back-yes = Ja, das Gerät damit starten
page-software-before-none = Auf der Karte ist kein früheres Interlude.
page-software-system-none = Auf der Karte ist kein früheres System.
page-software-system-apt = Dieses Gerät wurde nicht aus unserem Kartenabbild gemacht: Das System unter Interlude erneuert seine eigene Paketverwaltung.
page-step-look = Sieht es an
page-step-verify = Prüft die Signatur
page-step-unpack = Schreibt es auf die Karte
page-step-wait = Wartet, bis niemand spricht
page-step-try = Erprobt es
page-step-back = Geht zurück
page-step-other = Ist im Gang
page-network-title = WLAN und Zeitzone
page-network-open = Ein anderes WLAN, eine andere Zeitzone
page-network-wifi = WLAN
page-network-wifi-why = Das Gerät versucht das neue WLAN. Lässt es das Gerät nicht ein, kehrt es innerhalb von zwei Minuten zum vorigen zurück. Vielleicht muss auch dein Telefon das WLAN wechseln, um diese Seite wieder zu sehen.
page-network-unconfirmed = Das Gerät ist im WLAN { $wifi }, das ohne seine Taste eingegeben wurde. Bis du es bestätigst, verbindet es sich nicht mit Home Assistant und behält auch das vorige WLAN.
page-network-confirm-why = Hast du dem Gerät das WLAN { $wifi } gegeben? Wenn nicht, gib unten deines ein.
page-network-confirm = Ja, es ist meines
page-network-look = Nachsehen, welche in Reichweite sind
page-network-reach = In Reichweite:
page-network-name = Name des WLANs
page-network-secret-why = Für ein offenes Netz leer lassen.
page-network-hidden = Es verbirgt seinen Namen
page-network-enter = In dieses WLAN gehen
page-network-zone = Zeitzone
page-network-zone-here = Die Uhren gehen hier wie in
page-network-zone-why = Sie gilt nach einem Neustart, für die Nacht des Lichts, Timer und Wecker.
page-network-awaited = Das Gerät ist dabei. Es kann zwei Minuten lang nicht im Netz sein.
page-network-done = Erledigt.
page-set-trial = Testen
page-set-trial-awaited = Der Broker wird versucht.
page-set-port-none = Ein Port ist eine Zahl von 0 bis 65535.
page-network-none = Netz und Uhr dieses Geräts gehören dem System, auf dem es läuft.
page-models-title = Modelle und Stimmen
page-models-language = Sprachmodelle
page-models-voices = Stimmen
page-models-words = Wörter erkennen, während das Gerät spricht
page-models-codec = Sprach-Codec
page-models-used = in Gebrauch
page-models-here = vorhanden
page-models-memory = Dafür hat dieses Gerät zu wenig Speicher: { $gb } GB sind nötig.
page-models-short = Auf der Karte ist kein Platz dafür: { $size } fehlen.
page-models-coming = { $percent } % sind da. Nach jeder Unterbrechung geht es weiter.
page-models-part = { $percent } % davon sind da.
page-models-accept = Ich nehme seine Lizenz an, { $licence }
page-models-licence-first = Lies die Lizenz und nimm sie an.
page-models-fetch = Holen
page-models-remove = Entfernen
page-models-remove-sure = Es wird von der Karte gelöscht. Es lässt sich wieder holen.
page-models-remove-yes = Ja, entfernen
page-models-choose = Verwenden
page-models-not-here = Dieses Modell ist nicht auf dem Gerät.
page-models-asked = Es ist angefordert. Das Gerät beginnt gleich.
page-models-leaving = { $model } wird entfernt.
page-models-anew = { $model } antwortet nach einem Neustart.
page-models-speak = Stimmen auf diesem Gerät
page-report-title = Protokoll und Fehlerbericht
page-report-why = Das ist alles, was gespeichert würde. Kein Kennwort und kein gesprochenes Wort steht darin; Adressen und Namen in Anführungszeichen sind ausgelassen. Es wird nirgendwohin gesandt.
page-report-save = Als Datei speichern
page-backup-title = Sichern und Wiederherstellen
page-backup-make = Sichern
page-backup-make-why = Eine Datei mit dem Gedächtnis, Timern, dem Angelernten und den Einstellungen, die diese Seite ändern kann. Kein Kennwort ist darin, kein WLAN und kein Browser. Sie enthält Worte: Verwahre sie wie ein Tagebuch.
page-backup-download = Sicherung machen
page-backup-ready = Die Sicherung ist gemacht
page-backup-ready-why = Das ist darin:
page-backup-has-turns = Gedächtnis: { $turns } Gesprächsbeiträge
page-backup-has-timers = Timer und Wecker: { $timers }
page-backup-has-settings = Einstellungen, die von der Vorgabe abweichen: { $settings }
page-backup-has-not = Nicht darin: Kennwörter und Schlüssel, das WLAN, die zugelassenen Browser, Modelle, Stimmen und Interlude selbst. Das richtest du auf einem anderen Gerät neu ein. Sie enthält Worte: Verwahre sie wie ein Tagebuch.
page-backup-save = Datei speichern
page-backup-saved = Dein Browser legt sie zu seinen Downloads, als { $file }. Der Knopf gilt zehn Minuten lang.
page-backup-restored = Wiederhergestellt { $when }
page-backup-brought-back = Zurückgeholt { $when }
page-backup-not-restored = Es wurde nichts wiederhergestellt ({ $when }): { $why }
page-backup-nothing = Nur Einstellungen, oder nichts, was nicht schon so war
page-backup-all-begun = Das Gerät ist seither neu gestartet; mehr ist nicht nötig. WLAN und Kennwörter sind, wie sie waren.
page-backup-restore = Wiederherstellen
page-backup-choose = Sicherungsdatei, höchstens 6 MB
page-backup-look = Ansehen
page-backup-none = Es kam keine Sicherung an. Vielleicht ist sie zu groß, oder eine andere wird gerade gesandt.
page-backup-preview = Das würde sich ändern
page-backup-from = Sicherung von { $box }, gemacht { $when } von Interlude { $version }
page-backup-turns = Gedächtnis: Aus { $now } Gesprächsbeiträgen werden { $then }
page-backup-timers = Timer und Wecker: Aus { $now } werden { $then }; was inzwischen fällig war, wird als verpasst gemeldet
page-backup-adjusted = Modus, Lautstärke und Stimme, wie sie gestellt waren
page-backup-enrolled = Was von deiner Stimme angelernt war
page-backup-model = Das Sprachmodell bleibt, wie es ist: { $model } ist nicht auf diesem Gerät. Hole es unter „Modelle und Stimmen“ und wähle es dort.
page-backup-apply-why = Dafür startet das Gerät neu. Was ersetzt wird, bleibt erhalten und lässt sich zurückholen.
page-backup-apply = Wiederherstellen
page-backup-cancel = Alles lassen, wie es ist
page-backup-awaited = Das Gerät startet neu und stellt dabei wieder her.
page-backup-back = Zurückholen, was da war
page-backup-back-why = Was die letzte Wiederherstellung ersetzt hat, liegt noch auf der Karte, außer den Einstellungen: Die werden unter Einstellen zurückgenommen.
page-own-passed-on = Sätze, die eine andere Stimme sagen musste
enrol-intro = Ich möchte lernen, wie du ein paar Wörter sagst, während ich rede. Ich sage ein Wort vor; dann sag es so, wie du es zu mir sagen würdest, einmal.
enrol-ask = Sag: { $word }
enrol-word-mm-hm = mhm
enrol-word-yeah = ja
enrol-word-right = genau
enrol-word-wait = warte
enrol-word-stop = stopp
enrol-word-no = nein
enrol-fault-silent = Ich habe nichts gehört.
enrol-fault-clipped = Das war zu laut.
enrol-fault-noisy = Das war zu leise neben dem Geräusch.
enrol-fault-short = Das war zu kurz.
enrol-fault-long = Das war zu lang: bitte nur ein Wort.
enrol-fault-no-word = Ich habe kein Wort gehört.
enrol-fault-unlike = Das passte nicht zu den anderen.
enrol-kept = Danke. Ich habe es gelernt.
enrol-no-better = Danke. Ich verstehe dich schon; es bleibt, wie es ist.
enrol-too-few = Das war zu wenig, um daraus zu lernen. Nichts wird behalten.
enrol-contradict = Die Wörter klangen zu ähnlich. Nichts wird behalten.
enrol-failed = Etwas ging schief. Nichts wird behalten.
page-enrol-title = Dein „mhm“ und „warte“
page-enrol-intro = Während das Gerät redet, soll ein Murmeln es weiterreden lassen und ein Wort wie „warte“ es anhalten. Hier lernt es, wie du das sagst: Es fragt laut nach sechs Wörtern, nach jedem dreimal, und du sagst jedes einmal, so wie du es sagen würdest, während es redet. Das dauert etwa zwei Minuten. Was du dabei sagst, gilt nicht dem Gerät.
page-enrol-keeps = Die Aufnahmen liegen nur im Arbeitsspeicher des Geräts, solange es dauert; sie werden nirgends hingeschickt und nirgends aufgeschrieben. Behalten werden 195 Zahlen, und nur, wenn es damit besser wird.
page-enrol-since = Angelernt: { $since }.
page-enrol-nobody = Niemand ist angelernt.
page-enrol-begin = Beginnen
page-enrol-again = Noch einmal beginnen
page-enrol-stop = Anhalten
page-enrol-forget = Angelerntes löschen
page-enrol-forget-sure = Was gelernt wurde, wird auf der Karte überschrieben, ebenso Aufnahmen, die der Befehl „interlude enrol“ behalten hat. Danach urteilt das Gerät wie im Auslieferungszustand.
page-enrol-forget-yes = Löschen
page-enrol-left = Nicht alles konnte gelöscht werden: Auf die Karte kann nicht geschrieben werden. Versuch es noch einmal.
page-enrol-asking = Das Gerät fragt nach „{ $word }“. Sag es, wenn es ausgeredet hat.
page-enrol-recording = Sag jetzt „{ $word }“.
page-enrol-judging = „{ $word }“ wird geprüft.
page-enrol-waiting = Jemand redet, oder das Gerät. Mit „{ $word }“ geht es weiter, wenn es still ist.
page-enrol-learning = Es lernt aus dem, was du gesagt hast. Das kann eine Minute dauern.
page-enrol-cancelled = Es wurde angehalten. Nichts davon wird behalten.
page-enrol-abandoned = Es wurde angehalten, weil kein Browser mehr hinsah. Nichts davon wird behalten.
page-enrol-faults = Es wurde angehalten: Zu viele Wörter waren nicht zu gebrauchen. Nichts davon wird behalten. Die Tabelle sagt, warum; probier zuerst das Mikrofon.
page-enrol-end-kept = Es ist gelernt und gilt ab jetzt: Von { $takes } Wörtern, jedes beurteilt nach dem, was die anderen gelehrt haben, waren vorher { $before } % richtig, jetzt { $after } %.
page-enrol-end-no-better = Das Gerät versteht dich ohne das ebenso gut: Von { $takes } Wörtern waren { $before } % im Auslieferungszustand richtig. Nichts wurde geändert.
page-enrol-end-too-few = Zu wenige Wörter waren zu gebrauchen: Mindestens drei zum Weiterreden und drei zum Anhalten braucht es. Nichts wurde geändert.
page-enrol-end-contradict = Die Wörter klingen zu ähnlich: Was zum Weiterreden und was zum Anhalten gesagt wurde, widerspricht sich. Nichts wurde geändert.
page-enrol-end-failed = Das Gerät konnte nicht daraus lernen oder es nicht aufschreiben. Nichts wurde geändert. Versuch es noch einmal.
page-enrol-table = { $accepted } von { $all } Wörtern sind angenommen
page-enrol-word = Wort
page-enrol-round = Runde { $round }
page-enrol-fault-accepted = angenommen
page-enrol-fault-now = jetzt
page-enrol-fault-silent = nichts gehört
page-enrol-fault-clipped = zu laut
page-enrol-fault-noisy = zu leise, oder zu viel Geräusch
page-enrol-fault-short = zu kurz
page-enrol-fault-long = zu lang
page-enrol-fault-no-word = kein Wort gehört
page-enrol-fault-unlike = nicht wie die anderen
page-wrong-type = { $setting }: { $kind ->
    [whole] Gebraucht wird eine ganze Zahl.
    [number] Gebraucht wird eine Zahl.
    [switch] Es ist entweder an oder aus.
   *[other] Gebraucht wird ein Text.
}
page-wrong-least = { $setting }: Das Kleinste ist { $limit }.
page-wrong-most = { $setting }: Das Größte ist { $limit }.
page-wrong-longer = { $setting }: Höchstens { $most } Zeichen.
page-wrong-form = { $setting }: Das Eingegebene hat nicht die Form, die dort gebraucht wird.
page-wrong-choice = { $setting }: „{ $value }“ gibt es nicht. Es gibt { $choices }.
page-wrong-phrase = Das Aktivierungswort „{ $phrase }“ besteht nicht aus kleingeschriebenen Wörtern.
page-wrong-unknown-key = Es gibt keine Einstellung „{ $setting }“.
page-wrong-unknown-key-near = Es gibt keine Einstellung „{ $setting }“. War „{ $near }“ gemeint?
page-wrong-not-here = „{ $setting }“ kann von hier aus nicht geändert werden. Ändere es in der Einstellungsdatei.
page-wrong-broker-mute = Der Broker kann von hier aus nicht geändert werden: Er darf das Mikrofon wieder einschalten, und die Seite darf es nicht. Ändere ihn in der Einstellungsdatei.
page-wrong-broker-password = Das gespeicherte Passwort gilt nur für den Broker, den Port, den Benutzer und die Verschlüsselung, für die es eingegeben wurde. Gib auch das Passwort ein, oder lass den Benutzer leer.
page-wrong-panel-switch = Woran Knopf und Licht angeschlossen sind, kann von hier aus nicht geändert werden: Auch ein Stummschalter ist dort angeschlossen. Ändere es in der Einstellungsdatei.
page-wrong-password-letters = Das Passwort enthält Zeichen, die man nicht tippen kann. Gib es noch einmal ein.
page-wrong-no-undo = Es gibt keine Änderung, die rückgängig zu machen wäre.
page-wrong-unreadable = Die Einstellungsdatei { $file } kann nicht gelesen werden. Berichtige sie von Hand.
page-wrong-by-hand = Die Einstellungsdatei { $file } kann von hier aus nicht geändert werden, ohne dass etwas darin verloren ginge. Ändere sie in einem Editor.
page-wrong-no-form = So ein Formular gibt es nicht.
page-wrong-another-change = Gerade wird etwas anderes geändert. Versuch es in ein paar Sekunden noch einmal.
page-wrong-nobody-asked = Der Systemdienst dafür ist nicht zu erreichen ({ $why }). Mach es über ssh.
page-wrong-no-wifi = Dieses Gerät hat kein WLAN.
page-wrong-in-set-up = Das Gerät wird gerade eingerichtet. Mach es auf der Seite seines eigenen WLANs.
page-wrong-zone-missing = Es wurde keine Zeitzone gewählt. Nimm eine wie Europe/Berlin.
page-wrong-broker-changed = Der Broker unter { $at } zeigt ein anderes Zertifikat als bisher. Hast du es geändert, nimm es unter „Einstellen“ an; sonst antwortet ein anderes Gerät. SHA-256: { $sha256 }
page-wrong-broker-first = Für das Zertifikat des Brokers unter { $at } bürgt keine Stelle, deshalb wurde das Passwort nicht gesendet. Speicherst du die Einstellungen, merkt sich das Gerät das Zertifikat bei der ersten Verbindung und nimmt kein anderes an. SHA-256: { $sha256 }
page-wrong-broker-pin-read = Die Datei mit dem Zertifikat des Brokers, { $file }, lässt sich nicht lesen. Lösche sie.
page-wrong-broker-pin-write = Das Zertifikat des Brokers ließ sich nicht merken ({ $why }). Ist auf der Karte Platz?
page-wrong-unconfirmed = Das Gerät ist im WLAN { $wifi }, das du nicht bestätigt hast. Dort verbindet es sich mit keinem Broker. Bestätige es unter „WLAN und Zeitzone“.
page-wrong-nothing-to-confirm = Es gibt kein WLAN zu bestätigen.
page-wrong-no-zone = Die Zeitzone „{ $zone }“ gibt es nicht. Nimm eine wie Europe/Berlin.
page-wrong-broker-none = Es ist kein Broker angegeben.
page-wrong-broker-name = Der Name { $name } ist in diesem Netz nicht bekannt. Prüf ihn, oder gib die IP-Adresse des Brokers ein.
page-wrong-broker-port = Unter { $at } antwortet kein Broker. Läuft er, und stimmen Name und Port?
page-wrong-broker-silent = Unter { $at } antwortet niemand. Ist das Gerät eingeschaltet, und lässt eine Firewall die Box durch?
page-wrong-broker-network = { $at } ist nicht zu erreichen. Steht das Netz?
page-wrong-broker-certificate = Dem Zertifikat des Brokers unter { $at } wird nicht vertraut. Gib den Namen ein, der darin steht, oder nenn in der Einstellungsdatei die Stelle, die es unterschrieben hat (link.ca_file).
page-wrong-broker-tls = Der Broker unter { $at } spricht dort kein TLS. Gib seinen TLS-Port ein, oft 8883, oder schalte die Verschlüsselung aus.
page-wrong-broker-login = Der Broker unter { $at } weist die Anmeldung von { $user } ab. Prüf Benutzer und Passwort.
page-wrong-broker-needs-login = Der Broker unter { $at } verlangt eine Anmeldung. Gib Benutzer und Passwort ein.
page-wrong-broker-other = Was unter { $at } antwortet, spricht kein MQTT. Prüf Name und Port.
page-wrong-broker-closed = { $at } hat die Verbindung ohne Antwort geschlossen. Ist der Port einer für TLS, schalte die Verschlüsselung ein.
page-wrong-broker-topics = Der Broker unter { $at } lässt die Box { $topics } nicht lesen. Erlaub es in der Zugriffsliste des Brokers.
page-set-broker-well = Der Broker unter { $at } lässt die Box herein: { $how ->
    [tls] verschlüsselt, MQTT { $version }.
   *[plain] MQTT { $version }.
}
page-wrong-nothing-before = Es gibt nichts Früheres, zu dem das Gerät zurückgehen könnte.
page-wrong-no-tryboot = Der Kernel dieses Geräts kann beim Pi keinen Probestart des anderen Systems anfordern. Wie es von Hand gestartet wird, steht im Kapitel „When something is wrong“ des Handbuchs.
page-wrong-not-installed = { $file } konnte nicht eingespielt werden ({ $why }).
page-wrong-system-unwell = Das System { $version } hat sich nicht bewährt (auf Englisch: { $why }).
page-wrong-system-not-up = Das System { $version } ist nicht gestartet.
page-wrong-system-not-started = Das System { $version } wurde nicht gestartet: Der Kernel dieses Geräts kann beim Pi keinen Probestart anfordern. Wie es von Hand gestartet wird, steht im Kapitel „When something is wrong“ des Handbuchs.
page-wrong-card-worn = Die Karte hat nicht behalten, was auf sie geschrieben wurde. Sie ist verschlissen: Ersetze sie.
page-wrong-look-nowhere = Es ist keine Adresse eingetragen, bei der dieses Gerät nach neuen Versionen sehen würde.
page-wrong-look-reach = { $at } ist nicht zu erreichen. Steht das Netz, und stimmt die Adresse? Das Gerät versucht es in der nächsten Nacht wieder.
page-wrong-look-answer = { $at } antwortete mit dem Fehler { $code }. Das Gerät versucht es in der nächsten Nacht wieder.
page-wrong-look-sheet = Was unter { $at } liegt, nennt keine Version.
page-wrong-look-other = Was geholt wurde, ist nicht die angekündigte Version { $version }. Es wurde gelöscht.
page-wrong-look-large = Was angeboten wird, ist größer, als eine Version sein darf.
page-wrong-look-cut = { $at } brach ab. Was ankam, bleibt liegen, und das Gerät macht in der nächsten Nacht damit weiter.
page-wrong-look-length = { $at } nennt eine Länge, die keine Zahl ist. Das Gerät sieht dort in der nächsten Nacht wieder nach.
page-wrong-look-checksum = Was ankam, ist beschädigt und wurde gelöscht.
page-wrong-look-room = Auf der Karte ist kein Platz: Es fehlen { $mib } MiB.
page-wrong-look-address = { $at } ist keine Adresse im Web.
page-wrong-look-write = Was gefunden wurde, ließ sich nicht auf die Karte schreiben ({ $why }).
page-wrong-trusts-nobody = Dieses Gerät hat noch keinen Schlüssel für Updates: Wer es betreut, muss den öffentlichen Schlüssel des Herausgebers hinterlegen.
page-wrong-unsigned = Es ist nicht mit einem Schlüssel signiert, dem dieses Gerät vertraut.
page-wrong-other-machine = Es ist für { $made } gemacht, und dieses Gerät hat { $here }.
page-wrong-system-kept-unwell = Das System { $version } hat die Prüfung dreimal nicht bestanden: { $why }. Es wurde trotzdem behalten, weil ein Sicherheitsupdate es verlangt.
page-wrong-below-floor = { $version } ist älter als { $least }; ein Sicherheitsupdate lässt das nicht zu.
page-wrong-older = { $version } ist älter als { $kept }, das hier läuft.
page-wrong-clock = Die Uhr des Geräts geht falsch: Sie zeigt einen Tag vor dem, an dem diese Version gemacht wurde. Sie stellt sich, wenn das Gerät im Internet ist.
page-wrong-system-on-trial = Gerade wird ein System erprobt. Warte, bis das vorbei ist, oder schalte das Gerät aus und ein.
page-wrong-other-files = Eine andere Version { $version } mit anderen Dateien ist schon hier. Der Herausgeber muss dieser eine neue Nummer geben.
page-wrong-unwell = { $version } hat sich nicht bewährt (auf Englisch: { $why }). Das Gerät läuft wieder mit { $kept }, und gut.
page-wrong-unwell-alone = { $version } hat sich nicht bewährt (auf Englisch: { $why }), und es gibt keine, zu der das Gerät zurückgehen könnte.
page-wrong-unwell-both = { $version } hat sich nicht bewährt (auf Englisch: { $why }). Das Gerät läuft wieder mit { $kept }, aber auch damit nicht gut. Mehr sagt „Ausprobieren → Was das Gerät an sich auszusetzen hat“.
page-wrong-damaged = { $file } ist beschädigt oder wurde nach dem Signieren geändert. Hol es noch einmal.
page-wrong-no-archive = { $file } ist keine Version von Interlude oder nur ein Teil davon.
page-wrong-self-test = Es wurde vor dem Start erprobt und liefe hier nicht. Was fehlt, steht im Protokoll des Geräts.
page-wrong-somebody-talks = Gerade spricht jemand mit dem Gerät, darum wurde es nicht neu gestartet. Versuch es später noch einmal; die Version liegt zum Einspielen bereit.
page-wrong-general = Das ging nicht. Im Protokoll des Geräts steht, warum.
page-wrong-general-settings = So sind die Einstellungen nicht brauchbar. Was daran falsch ist, steht im Protokoll des Geräts.
page-wrong-general-card = Die Soundkarte fehlt, ist belegt oder kann nicht, was von ihr verlangt wird.
page-wrong-general-model = Dieses Modell fehlt, ist beschädigt oder von anderer Art.
page-wrong-general-fetch = Der Download ist gescheitert, oder es kam nicht an, was versprochen war.
page-wrong-general-voice = Die Stimme kann nicht sprechen.
page-wrong-general-server = Der Modellserver ist nicht zu erreichen oder antwortet mit einem Fehler.
page-wrong-general-broker = Der Broker ist nicht zu erreichen oder weist das Gerät ab.
page-wrong-general-certificate = Das Zertifikat der Seite ist nicht brauchbar.
page-wrong-general-panel = Knopf oder Licht lassen sich nicht so verwenden, wie sie eingestellt sind.
page-wrong-general-not-allowed = Das darf das Gerät nicht.
page-wrong-general-backup = Diese Datei ist keine Sicherung von Interlude, oder sie ist beschädigt.
page-wrong-general-storage = Die Karte lässt sich nicht lesen oder beschreiben: Vielleicht ist sie voll oder verschlissen.
page-wrong-general-release = Was eingespielt werden sollte, ist nicht brauchbar: Es ist beschädigt oder nicht für dieses Gerät gemacht.
page-wrong-general-typed = Das Eingegebene ist nicht brauchbar.
page-wrong-general-later = Das geht im Moment nicht. Versuch es später noch einmal.
page-wrong-general-unwell = Was erprobt wurde, hat sich nicht bewährt. Das Gerät läuft weiter mit dem, was es hatte.
page-wrong-model-missing = Das Sprachmodell { $model } ist nicht auf diesem Gerät. Hole es unter „Modelle und Stimmen“.
page-wrong-model-part = Das Sprachmodell { $model } ist nur zum Teil da. Hole den Rest unter „Modelle und Stimmen“.
page-wrong-model-unverified = Die Dateien des Sprachmodells { $model } sind nicht geprüft. Hole es unter „Modelle und Stimmen“.
page-wrong-model-unknown = Es gibt kein Modell „{ $model }“.
page-wrong-backup-none = Diese Datei ist keine Sicherung von Interlude. Wähle eine, die diese Seite gemacht hat.
page-wrong-backup-damaged = Diese Sicherung ist beschädigt. Wähle eine andere.
page-wrong-backup-version = Diese Sicherung ist von einer anderen Version von Interlude. Spiele zuerst diese oder eine neuere ein.
page-wrong-backup-key = Diese Sicherung setzt „{ $setting }“, was keine Sicherung enthält.
page-wrong-model-by-hand = { $model } wird in einer Shell des Geräts geholt: interlude models fetch { $model }.
page-wrong-model-shipped = { $model } gehört zum Gerät und bleibt.
page-wrong-model-under-way = { $model } ist gerade in Arbeit. Warte, bis das fertig ist.
page-wrong-model-in-use = { $model } wird benutzt. Wähle etwas anderes, und starte das Gerät neu.
page-wrong-model-here = { $model } ist schon da.
page-wrong-model-write = Der Auftrag ließ sich nicht auf die Karte schreiben ({ $why }).
page-wrong-file-large = Die Einstellungsdatei { $file } würde zu groß. Nimm Kommentare heraus.
page-wrong-network-asked = Das Netz des Geräts lässt sich im Moment nicht ändern. Starte das Gerät neu, und versuch es dann noch einmal.
page-wrong-network-refused = Das Netz des Geräts hat das nicht angenommen. Prüf Namen und Passwort des WLANs.
page-wrong-certificate-pair = Zertifikat und Schlüssel gehören nicht zusammen oder sind keine PEM-Dateien. Der Schlüssel muss ohne Passphrase sein.
page-wrong-certificate-open = Andere auf diesem Gerät können den Schlüssel des Zertifikats lesen. Er muss seinem Besitzer allein gehören (Modus 0600).
page-wrong-certificate-keyless = Auf diesem Gerät fehlt der Schlüssel zum Zertifikat.
page-wrong-certificate-unread = { $file } kann vom Gerät nicht gelesen werden.
page-wrong-certificate-bad = Das Zertifikat ist nicht brauchbar: Vielleicht ist es abgelaufen, für etwas anderes ausgestellt, oder ein Teil seiner Kette fehlt. Sieh auch nach der Uhr des Geräts.
page-wrong-in-english = Dazu gibt es nur einen englischen Text:
