"""The German patterns of the guard. Data only; lexicon.py explains the form."""

from __future__ import annotations

from appliance.tools.guard.german_words import JOINS, ROWS
from appliance.tools.guard.lexicon import Language, lines

# Parts of patterns. person: up to five words, none of them a device.
_PARTS = {
    "person": (
        r"(?:(?!\w*(?:radio|musik|licht|heizung|fernseher|roboter|sauger|maschine|ventilator|"
        r"lampe|film)\b)\w+ ){1,5}?"
    ),
    "closed": (
        r"(?:zu|abgeschlossen|geschlossen|verschlossen|verriegelt|abgesperrt|zugesperrt|gesichert|"
        r"scharf|unten)"
    ),
    "way": (
        r"(?:rein|herein|hinein|raus|heraus|hinaus|hoch|rauf|herauf|hinauf|durch|vorbei|"
        r"rueber|drinnen|nach (?:draussen|drinnen))"
    ),
}

GERMAN = Language(
    rows=ROWS,
    joins=JOINS,
    polite=lines(
        r"""
        (?:hey|ok|okay|hallo|na|so|also|ja|ach|bitte|mal|doch|jetzt|und|kurz|schnell|gleich|eben|
            computer|alexa|sei so (?:lieb|gut|nett)|sei (?:lieb|nett)|sag mal|los|komm)(?= )
        (?:kannst|koenntest|wuerdest|magst|willst|wirst|darfst|sollst|koennt|koenntet|kann|koennte|
            wuerde) (?:du|ihr|man|jemand|mir jemand|bitte jemand)
        (?:ich )?(?:moechte|will|haette gern|haette gerne),? dass du|vergiss (?:bitte )?nicht
        nicht vergessen|ich bitte dich|tu mir (?:bitte )?den gefallen
        ob du (?:vielleicht |bitte |mal |wohl )*so (?:lieb|gut|nett|freundlich) (?:waere?st|bist)
        """
    ),
    topics=lines(
        r"""
        (?:spiel|spiele|spielst|hoer|hoere|sing|singe|schau|schaue|guck) (?!nach|dir|mal|ob|dass|
            zu|doch|auf)
        (?:zeig|zeige|nenn|nenne|erzaehl|erzaehle|erklaer|erklaere) (?:mir|uns)
        (?:heiz|heize|waerm|waerme|saug|sauge|wisch|wische|putz|putze|kuehl|kuehle) (?!.*\b(?:oeffn|
            hoch|rauf))
        zeige? (?:\w+ )?(?:film|folge|serie|doku)|halte? (?:\w+ )?(?:film|folge|serie|musik)
        liste (?:mir|alle|die)|(?:finde|find) (?:mir |ein|eine|einen|die naechste)|durchsage
        ansage|(?:schreib|schick|sende|texte)\w* (?:\w+ )+dass
        (?:loesch|streich|entfern)\w* (?:\w+ )?(?:erinnerung|termin|notiz|eintrag)
        (?:erzaehl|erklaer|uebersetz|buchstabier|definier|beschreib|lies|vorlesen|such|google|
            recherchier|navigier|ruf|anruf|kauf|bestell|erinner|notier|merk dir|rechne|zaehl|
            benachrichtig|informier|warn|melde dich|weck|kuendige|berechne|vergleich|empfiehl)(?:e|
            st|t|n|en|et|er)?
        (?:setz|schreib|pack|nimm|leg|trag|tu|streich|loesch|entfern)\w* .*\b\w*(?:liste|zettel|
            kalender|notiz\w*)\b
        (?:schreib|notier)\w* (?:auf|dir|mir|eine|ne)
        sag(?:e|st)? (?:mir|uns|bescheid|oben|unten|den kindern|allen|durch|den anderen)
        gib bescheid|gib (?:mir|uns) (?:bitte )?bescheid|was (?:heisst|bedeutet|kostet|kosten)
        wie (?:heisst|schreibt|buchstabiert|sagt)
        ich (?:will|moechte|wuesste|wuerde|muss) (?:gern |gerne |nur |mal )*(?:wissen|erfahren)
        weisst du|mich interessiert|ich frage mich
        (?:starte|beginn\w*|pausier\w*|stopp\w*) (?:\w+ ){0,4}(?:film|folge|podcast|lied|musik|
            hoerbuch|album|video|radio|playlist)$
        """
    ),
    past=lines(
        r"""
        wann oeffne(?:t|n) (?:der|die|das)
        """
    ),
    carry=lines(
        r"""
        (?:erinner|notier|merk|melde|sag|gib|benachrichtig|informier|warn|schreib|kuendig)\w*
        """
    ),
    asks=lines(
        r"""
        (?:ist|sind|war|waren|hat|hast|hatte|hatten|steht|stehen|standen|wurde|wurden|wird|werden|
            ging|gingen|kam|kamen|lief|status|zustand|batteriestand|gibt es|laeuft|brennt|haengt|
            habe? ich|haben (?:wir|sie|die|alle)|stand (?:der|die|das|noch))
        (?:von|mit|fuer|bei|aus|an) (?:wem|welch\w*)|wozu
        (?:wer|was|wann|wo|warum|wieso|weshalb|woher|wohin|welch\w*|worum|wofuer|womit|wieviel\w*|
            wessen|wem|wen)
        wie(?! (?:waer|waere|wars|ware))|(?:bis|seit|um|ab) (?:wann|welch\w+)|ob
        (?:(?:stell|starte|setz|start)\w* .*)?timer
        (?:es ist|mir ist|hier ist) (?:\w+ )?(?:dunkel|kalt|heiss|warm|laut|hell|windig) (?:am|im|
            in|an|auf|bei)(?: der| dem)? \w+$
        (?:schau|sieh|guck|pruef|pruefe|kontrollier|kontrolliere|check)(?: (?:mal|bitte|doch|
            kurz))* (?:nach|ob|die|den|das|alle|wie|was)
        nachsehen|nachschauen|nachgucken|pruefen|kontrollieren
        """
    ),
    hints=lines(
        r"""
        (?:warum|wieso|weshalb) .*\b<closed>$
        (?:warum|wieso|weshalb) .*\b(?:nicht|kein\w*) (?:\w+ )?(?:offen|auf|oben|hoch|
            geoeffnet|\w*auf\w+|entriegelt|entsperrt|unscharf|hochgefahren|hochgezogen)$
        (?:nicht|nimmer|kein\w*) (?:\w+ ){0,4}?<closed> (?:sein|bleiben|stehen)
        (?:muss|muessen|brauch\w*|soll\w*) (?:\w+ ){0,6}?(?:nicht|nimmer|kein\w*) (?:\w+ ){0,4}?
            <closed>$
        (?:hoechste|wird|wirds|waere?|ist) (?:es )?(?:\w+ )?zeit$|zeit dass|auf unscharf
        ausser (?:betrieb|gefecht|kraft|funktion)|ober\w* (?:endlage|anschlag|endpunkt|stellung)
        """,
        **_PARTS,
    ),
    corrections=lines(
        r"""
        quatsch|aeh|moment|nein|nee|ne|falsch|doch nicht|andersrum|andersherum|vielmehr|stattdessen
        meine? ich|ich mein(?:e|te)?|sorry
        """
    ),
    events=lines(
        r"""
        ^(?:wenn|sobald|falls) (?:ich|wir|jemand|einer|er|sie|man|die \w+|
            der \w+) (?:\w+ ){0,3}?(?:oeffne|oeffnen|oeffnet|aufmache|aufmacht|aufschliesse|
            aufschliesst|aufsperre|aufsperrt|entriegele|entriegelt)$
        """
    ),
    orders=lines(
        r"""
        (?:oeffne|oeffnest|offne|entriegel|entriegle|entriegeln|entsperr|entsperre|entsperren|
            aufmachen|aufschliessen|aufsperren|oeffnen|aufzu\w+|aufmachst|aufmacht|entschaerf\w*)
        (?:mach|machst|mache|machen wir|sperr|sperrst|schliess|zieh|ziehst|drueck|lass|laesst|tu|
            reiss) (?:.* )?(?:auf|hoch|rauf|rein|raus|herein)
        (?:du|ihr) .*\b(?:aufmach|oeffn|entriegel|aufschliess|aufsperr|unscharf|reinlass)\w*
        hast du (?:lust|zeit|mal)|lust|gern|chance|moeglich\w*
        ^(?:wenn|falls) (?:du|ihr|jemand|einer) (?!klingelt|kommt|die|das|den)
        unscharf (?:schalten|stellen|machen)
        """
    ),
    idioms=lines(
        r"""
        (?:lass|lasse|lasst|laesst|lassen) <person><way>(?:kommen|gehen|fahren)?
        (?:lass|lasse|lasst|laesst|lassen) (?:\w+ ){1,4}?(?:in|auf) (?:den|die|das|unser\w*|
            mein\w*) (?:garten|weide|wiese|koppel|strasse|haus|wohnung|hof|garage|terrasse|balkon|
            keller|treppenhaus|flur|grundstueck)$
        (?:will|wollen|moechte|moechten|darf|duerfen|muss|muessen|soll|sollen|kann|koennen|komm|
            komme|kommt|kommen|koennte) (?:\w+ ){0,5}?(?:wieder |nicht |bitte |noch )?(?:rein|
            herein|hinein|raus|heraus|hinaus|nach draussen|nach drinnen|durch|ins haus|reinkommen|
            rauskommen|reinlassen|rauslassen|hereinkommen|reingehen|rausgehen)
        \w*(?:rein|herein|raus|heraus|durch|hoch|rauf)(?:lassen|gelassen|zulassen|laesst|lasst|lass)
        (?:summ|summe|hol|hole|holst du|schick|schicke|bitte|wink|bring|begleite) (?:ihn|sie|ihr|
            uns|mich|
            den \w+|die \w+|meine?n? \w+)(?: mal| bitte| doch)* <way>
        (?:ins|in den|in die) \w*(?:haus|keller|wohnung|hof|garten|garage|flur|treppenhaus) lassen
        (?:lass|lasse|lasst) (?:ihn|sie|ihr|uns|mich) ins? (?:\w+ )?\w*(?:haus|keller|wohnung)
        summen|herein mit|rein mit|immer herein|bring\w* (?:mich|uns) (?:\w+ )?(?:ins haus|in die
            wohnung|in den hof)
        (?:ich|wir) (?:steh|stehe|stehen|wart|warte|warten) (?:\w+ ){0,4}?(?:draussen|vor)
        nicht (?:mehr |automatisch )?scharf\w*
        scharf(?:schalt|stell)\w* (?:ueberspringen|abbrechen|auslassen|beenden|aufheben|aussetzen)
        drueck\w* (?:mal |bitte )?bei|(?:zone|bereich|melder) (?:\w+ )?(?:auslassen|ueberspringen|
            ausklammern|
            ignorieren)
        aufnahmen? (?:\w+ ){0,3}?(?:stopp\w*|beend\w*|aus|pausier\w*)|(?:stopp|stoppe|beende|
            pausiere?) (?:die )?aufnahme
        automatisch\w* (?:abschliessen|verriegeln|absperren|zusperren) (?:aus|ab|deaktiv\w*)
        (?:will|wollen|moechte|moechten|muss|darf) (?:in|auf) (?:den|die|das) (?:garten|haus|hof|
            wohnung|terrasse|
            balkon|wiese)|(?:haus|system|anlage|alles) auf (?:zuhause|zu hause|anwesend)|
            (?:einfahrt|zufahrt|durchfahrt|ausfahrt) frei
        (?:muss|muessen) mal$|von (?:scharf|abwesend) auf|abdeck\w* (?:auf|aufheben|weg|ab)
        abwesen\w* (?:aus|ab|beend\w*|deaktivier\w*)|frische\w* luft|(?:rein|raus|hoch|rauf|
            weg) mit
        (?:giess|bewaesser|spreng|waesser)e? |(?:pool|teich|becken|wanne) (?:auf|be)?fuellen
        tageslicht|sonnenlicht|^(?:oben |unten |hier )?(?:alle|alles|sie|beide|ganz|halb) (?:hoch|
            rauf|auf)$
        (?:lass|lasse) (?:\w+ ){0,3}?(?:badewanne|bad|badewasser|wasser|wanne)(?: \w+)? (?:ein|
            einlaufen|laufen)
        (?:fuell|fuelle|befuell\w*) (?:\w+ ){0,2}?(?:pool|badewanne|wanne|planschbecken|teich|
            becken)
        kein\w* (?:\w+ )?aufnahmen? mehr|(?:badewanne|badewasser) (?:ein|einlassen)|ausgesperrt
        (?:schluessel|keycard|karte) (?:vergessen|verloren|liegen|weg|drin\w*|nicht)
        kein\w* schluessel|ohne schluessel|haende voll|gib (?:\w+ ){0,4}?frei|freischalten
        freigeben|gewaehr\w*|bahn frei|weg frei|(?:zutritt|einlass|zugang|eintritt)|frische luft
        frischluft|sauerstoff|stickig|muffig|luft rein|durchzug
        (?:lueft|luefte|lueften|lueftest|durchlueften|stosslueften|querlueften|gelueftet|auslueften)
        (?:licht|sonne|luft|tageslicht|sonnenlicht) (?:rein|herein|hinein|reinlassen)
        wasser marsch|freie fahrt|sesam
        (?:zieh|fahr|kurbel|roll|mach|lass|heb|stell|schieb) (?:sie|ihn|es|alle|alles|die|beide|
            das)(?: (?:mal|bitte|doch|ganz|wieder|etwas|ein bisschen|halb))* (?:hoch|rauf|herauf|
            hinauf|nach oben|beiseite|zur seite)$
        (?:anlage|haus|system|alles|bereich|zone) unscharf
        (?:hoer|hoert) (?:doch |endlich |bitte )?auf zu (?:heulen|filmen|ueberwachen|aufnehmen|
            jaulen)
        (?:nicht|nie|kein\w*) (?:mehr )?(?:filmen|aufnehmen|ueberwachen|aufzeichnen|abschliessen|
            zusperren|
            absperren|verriegeln|zumachen|schliessen|ab|zu)$
        schliess (?:\w+ )*nicht (?:\w+ )*(?:ab|zu)?$|(?:summt?|summen) (?:ihn|sie|uns)
        (?:ich|wir) (?:bin|sind) s? ?(?:nur|es nur)|war nur ich|nur ich
        """,
        **_PARTS,
    ),
    spared=lines(
        r"""
        (?:muss|muessen|soll|sollen|kommt|kommen) (?:\w+ )*?\w*(?:muell|tonne|tonnen|waesche|papier|
            blumen|abfall|kuchen|fleisch|pizza|braten|essen)(?: \w+)*? raus
        hol\w* (?:die|den|das) (?:markise|sonnensegel|waesche|post|muelltonne\w*)(?: \w+)*? rein
        lass (?:mich|uns|es|das|die musik|den roboter|das licht)(?: \w+)? (?:in ruhe|laufen|saugen|
            an|aus|spielen|wissen|hoeren|sehen)
        komm runter|pass auf|kommt .* durch (?:die|den|das)
        """
    ),
)
