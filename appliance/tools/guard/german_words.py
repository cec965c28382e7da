"""The German words of the guard, by tag. Data only; lexicon.py explains the form."""

from __future__ import annotations

from appliance.tools.guard.lexicon import Rows, Tag, joins

# What may stand before "tor" and "tur" in a compound: "Motor" and "Temperatur" have others.
_BEFORE = """
haus keller garagen garten terrassen hinter vorder neben wohnungs balkon seiten eingangs
ausgangs zimmer schiebe hof roll einfahrts einfahrt ausfahrts auffahrts haupt hallen schwing
dreh park scheunen stall weide zaun carport fluegel sektional zufahrts strassen holz metall
aussen innen brand fahrrad schuppen ofen auto backofen kuehlschrank flur bad kueche kuechen dach
wartungs geraete kamin glas speise pendel burg werkstatt tiefgaragen notausgangs bienen huehner
pferde
""".split()
_GATES = " ".join(
    f"{before}{end}" for before in _BEFORE for end in ("tor", "tore", "toren", "tors")
)
_DOORS = " ".join(f"{before}{end}" for before in ("", *_BEFORE) for end in ("tur", "turen"))
# Verbs with which "auf" opens nothing. Their forms are listed, since "lad" begins "Laderampe", too.
_VERBS = """
raeum pass zaehl steh weck wach hoer lad nimm dreh leg bau waerm heiz loes lies les schreib
frisch fuell ruf such tau munter gib wart rueck spiel setz teil blas pump trag hol klaer hell
zeichn wasch putz atm stock fang deck haeng greif tank sitz bring fall wirf brat back schau pepp
merk heiter bleib trink kehr nehm ess reg geb
""".split()
_SPARED = " ".join(
    f"{verb}{end}" for verb in _VERBS for end in ("", "e", "st", "t", "en", "est", "et")
)
ROWS: Rows = (
    (Tag.DOOR, f"{_GATES} {_DOORS}"),
    (
        Tag.DOOR,
        """
        *tuer *tueren tor tore toren tors *garage *garagen *pforte *pforten *gatter *gitter
        *gitters *rollladen *rolladen *rollaeden *rollaede *rolllaeden *rollladens laeden
        *fensterladen *fensterlaeden *klappladen *klapplaeden *schlagladen *rollo *rollos
        *rouleau *rouleaus
        *storen *jalousie *jalousien *raffstore *raffstores *lamelle *lamellen *vorhang *vorhaenge
        *vorhaengen *gardine *gardinen *stores *plissee *plissees *klappe *klappen *schranke
        *schranken *schlagbaum *schlagbaeume kofferraum *tresor *tresore wandsafe moebelsafe
        waffensafe pooldach *beschattung *verschattung *screens *lamellendach *verdunkelung
        *verdunklung *sonnenschutz *sichtschutz *eingang *eingaenge *zugang *durchfahrt
        *ausfahrt *einfahrt *deckel motorhaube *drehkreuz *waffenschrank *medizinschrank
        *giftschrank *medikamentenschrank *spind *schiebedach *falltor *schott *schotten
        *schleuse *schleusen *zufahrt
        """,
    ),
    (
        Tag.WINDOW,
        """
        *fenster *fenstern *fensters *lichtkuppel *lichtkuppeln *oberlicht *oberlichter
        *oberlichte *luke *luken *bodentreppe *fensterfluegel *abdeckung *abdeckungen
        *abdeckplane *persenning *poolplane *bodenleiter *verdeck
        """,
    ),
    (Tag.BOLLARD, "*poller *pollern *pollers *zugbruecke *parkbuegel *sperrpfosten"),
    (Tag.AWNING, "*markise *markisen *sonnensegel *sonnenschirm *sonnenschirme"),
    (
        Tag.VALVE,
        """
        abfluss herdgas propangas kuechengas *ventil *ventile *ventilen *hahn *haehne *haehnen
        *armatur wasser hauptwasser gartenwasser *leitungswasser giesswasser gas erdgas
        *schieber *bewaesserung *beregnung *sprenger *regner *hydrant *absperrung *schlauch
        *schlaeuche *zufuhr wasserversorgung gasversorgung bewaesserungs* beregnungs*
        """,
    ),
    (
        Tag.LOCK,
        """
        *schloss *schloesser *schlosses *schloessern *riegel *riegeln *riegels *bolzen
        *schliessanlage *schliessung *sperre *vorreiber *nachtfalle smartlock nuki
        """,
    ),
    (
        Tag.OPENER,
        """
        garagentaster* garagenknopf* torknopf tortaster torrelais tormotor* tuertaster tuerknopf
        *oeffner *oeffners *tueroeffner tuersummer haussummer *torantrieb *entriegelung
        *entriegelungen *schluesselschalter *zutritt *einlass *freigabe *tagesfalle *oeffnung
        dauerauf
        """,
    ),
    (
        Tag.ALARM,
        """
        *alarm *alarme *alarms *alarmanlage *alarmanlagen *alarmsystem einbruch* *einbruchschutz
        *melder *meldern *melders *sensor *sensoren fensterkontakt* tuerkontakt* torkontakt*
        sabotagekontakt* magnetkontakt* oeffnungskontakt* reedkontakt* alarm* panik* ueberwach*
        *schutz *kamera *kameras *cam *ueberwachung *videoueberwachung *kindersicherung
        *kindersicherungen *tuerkette *sicherheitskette *sperrkette kette *sicherheitsanlage
        *sicherheitssystem sicherheit *scharfschaltung *anwesenheitssimulation
        *urlaubssimulation *aufzeichnung *kameraaufnahme *lichtschranke *lichtschranken
        *waechtermodus *wachmodus *schutzmodus *panikmodus *sabotageschutz *sicherung anlage
        *diebstahlschutz *sicherheitsmodus *alarmmodus *verriegelung *verriegelungen
        *tastensperre *herdsperre *bediensperre babyphone babyfon *wasserstopp *wasserstop
        aquastop *leckageschutz *leckschutz *kinderschutz *gasstopp *weidezaun *elektrozaun
        *bewegungserkennung *glasbruch *anwesenheitserkennung *sicherheitsstufe *nachtwache
        *abriegelung *sperrung schliessautomatik*
        """,
    ),
    (Tag.SIREN, "*sirene *sirenen *hupe *geheul *geheule *gejaule"),
    (
        Tag.OPEN,
        """
        oeffne* offne* oeffnet geoeffnet geoffnet offen aufgeht aufgehen aufging aufgemacht
        aufgesperrt aufgeschlossen spalt spaltbreit kippen kipp kippe gekippt kippstellung
        aufgezogen aufgezogene angelehnt unverschlossen unabgeschlossen unversperrt freigeben
        freigegeben aufziehen auffahren aufhalten aufdeck* aufspann*
        """,
    ),
    (
        Tag.UNLOCK,
        """
        aufmach* aufsperr* aufschliess* aufriegel* entriegel* entsperr* entsicher*
        entschaerf* unscharf* entriegl* entriegel entriegeln entriegle entriegelt
        entsperren entsperre aufmachen aufsperren aufschliessen aufriegeln aufzumachen
        aufzuschliessen aufzusperren aufzuriegeln ueberbrueck* aufklink* aufbrech*
        aufdrueck* offnen oeffnen fehlalarm aufmachste aufmacht
        """,
    ),
    (
        Tag.CLOSE,
        """
        verriegel verriegele verriegeln verriegelt verriegelst
        schliess* zu zumach* zuzieh* zufahr* zudreh* zusperr* zuklapp* zugemacht
        zugezogen zugesperrt zugehen zugeht zuschliess* abschliess* absperr*
        abgeschlossen abgesperrt abzuschliessen abzusperren zuzumachen zuzusperren
        verriegel* verriegl* verriegelt verschliess* verschlossen geschlossen zuschieb*
        dicht zuknall* dichtmach* abzudrehen zuzudrehen abdreh* abgedreht zugedreht
        versperr* verrammel* vorlegen vorschieb* gesichert absicher* sichere sichern
        """,
    ),
    (
        Tag.LOWER,
        """
        runter herunter hinunter herab runterfahr* herunterfahr* runterlass*
        herunterlass* runtermach* absenk* senk* herunterzieh* runterzieh* runtergefahren
        heruntergelassen abwaerts tiefer
        """,
    ),
    (
        Tag.RAISE,
        """
        anheben
        hoch rauf nauf herauf hinauf hochfahr* hochzieh* rauffahr* raufzieh* hochlass*
        hochmach* hochkurbel* anheb* heb hebe heben hebst aufwaerts hinauffahr*
        hochgefahren hochstell*
        """,
    ),
    (Tag.UNSURE, "deaktivier deaktiviere deaktivieren deaktivierst heb hebe heben hebst anheben"),
    (
        Tag.RETRACT,
        """
        einfahr* einroll* einzieh* reinfahr* einhol* eingefahren einkurbel* rein herein
        """,
    ),
    (Tag.STOP, "stopp stoppe stoppen anhalt* halt halte haltet"),
    (
        Tag.ARM,
        """
        aufnehm* aufzeichn*
        scharf scharfschalt* scharfstell* aktivier* einschalt* anschalt* anmach*
        abwesend start* einzuschalten zuschalt* anstell* aktiv aktive vorlegen
        """,
    ),
    (Tag.ON, "an ein"),
    (
        Tag.OFF,
        """
        deaktivier deaktiviere deaktivieren deaktivierst aus ab ausschalt* abschalt* abstell*
        deaktivier* ausmach* inaktiv stumm stummschalt* beend* aufheb* aufhoer* abzuschalten
        auszuschalten loesch* quittier* raus weg unterbrech* pausier* ausgeschaltet abgeschaltet
        ausstell* ruhe still privat*
        """,
    ),
    (
        Tag.SHOW,
        """
        zeig zeige zeigen zeigst ansehen anzeigen einblenden bild livebild foto schwenk*
        """,
    ),
    (
        Tag.DEVICE,
        """
        *licht *lichter *lichtern *lichts *lampe *lampen *leuchte *leuchten *beleuchtung *fluter
        *laterne *laternen *geblaese *lichterkette *lichterketten *strahler *spot *spots
        *leselicht *heizung *heizungen heizkoerper thermostat *thermostat *temperatur
        *heizluefter *luftfeuchtigkeit *luftfeuchte *radio *radios *musik *lautsprecher
        *fernseher *tv *ventilator *luefter *lueftung *staubsauger *sauger *saugroboter *roboter
        *maehroboter *steckdose *steckdosen *stecker *maschine *trockner *spueler *batterie
        *akku *lautstaerke *klingel *gong *helligkeit *beamer *drucker *kocher *boiler
        *warmwasser *klima *klimaanlage *reiniger *befeuchter *entfeuchter *pumpe *szene *szenen
        *decke *kaffeemaschine *ladestation *wallbox *monitor *display *spiel *lautsprechern
        *bass *stimmung *dimmer *roboters heizen beheizen saugen wischen *frostschutz
        *mueckenschutz *birne
        """,
    ),
    (
        Tag.HARMLESS,
        """
        *plan *plaene *app *apps *liste *listen *datei *dateien *ordner *lied *lieder *album
        *alben *playlist *podcast *podcasts *film *filme *foto *fotos *bild *bilder *galerie
        *video *videos *seite *seiten *tab *website *webseite *browser *mail *mails *postfach
        *nachricht *nachrichten *chat *notiz *notizen *kalender *dokument *dokumente *tabelle
        *rezept *rezepte *buch *buecher *kapitel *folge *spiele *karte *karten *wetter *artikel
        *einstellungen *menue *ergebnis *link *konto *profil *termine *agenda *witz *geschichte
        *frage *mediathek *kanal *sender *sendung *programm *muell *tonne *waesche *handy
        *telefon *smartphone *rechner *computer *laptop *tablet *pc *wlan *bibliothek *papier
        *altpapier *einkaufszettel *zettel *uebersicht *thema *diskussion *umfrage sonne mond
        *bildschirm *geschirr *browsers ard zdf *spiel *datenschutz *jugendschutz *klimaschutz
        *virenschutz *naturschutz *umweltschutz kontakte *ansicht *protokoll *verlauf *suche
        *anleitung *geheimnis *geheimnisse bluetooth benachrichtigungen benachrichtigung
        mitteilungen
        """,
    ),
    (
        Tag.TIME,
        """
        *uhr *wecker weck weckt wecke frueh morgen morgens mittag *weckruf eins zwei
        drei vier fuenf sechs sieben acht neun zehn elf zwoelf halb viertel montag
        dienstag mittwoch donnerstag freitag samstag sonntag
        """,
    ),
    (
        Tag.NOT,
        """
        nicht nich kein keine keinen keiner keinem nie niemals ohne statt anstatt
        verhinder* vermeid* weder rueckgaengig trotzdem
        """,
    ),
    (
        Tag.PLACE,
        """
        an am ans bei beim vor vorm vors ueber ueberm unter unterm neben hinter hinterm
        in im ins zwischen um von vom zum zur gegenueber nahe bis
        """,
    ),
    (
        Tag.ARTICLE,
        """
        der die das den dem des eine einen einem einer eines mein meine meinen meinem
        meiner dein deine unser unsere unserem unseren diese dieses diesen dieser diesem
        alle allen aller alles beide beiden jede jedes jeden welche
        """,
    ),
    (Tag.POSITION, "prozent halbe halben halbhoch mittig position haelfte drittel"),
    (Tag.ZERO, "0 null"),
    (Tag.STATE, "ist sind war waren bleibt bleiben steht stehen"),
    (
        Tag.WISH,
        """
        sorg sorge achte soll sollen sollte sollst muss muessen muesste bitte will
        moechte pruef kontrollier lass lasse stell*
        """,
    ),
    (
        Tag.NEUTRAL,
        """
        bitte mal doch jetzt gleich kurz eben schnell sofort wieder ganz komplett fuer
        danke auch nochmal noch schon heute nacht nachts dann zuerst ja ma vollstaendig
        langsam vorsichtig etwas bisschen weit hier da oben unten draussen drinnen
        zweimal bis
        """,
    ),
    (Tag.SPARED, _SPARED),
)
JOINS = joins(
    r"""
    auf ?(?:zu )?mach(en)? -> aufmach\1
    auf ?(?:zu )?sperr(en|e)? -> aufsperr\1
    auf schliess(en|e)? -> aufschliess\1
    ent riegel(n|e)? -> entriegel\1
    ent sperren? -> entsperren
    (tuer|tor|haus|garagen|gartentor|haustuer) (schloss|oeffner|summer|tor|tuer|kette) -> \1\2
    ((?:den|dem|der|des|einen|am|vom|zum|beim|drueck|drueck mal|betaetig\w*|
        aktivier\w*) )summer -> \1tuersummer
    summer(?= (?:drueck|betaetig|an\b|aktivier|fuer)) -> tuersummer
    bewegungs ?sensor(?:en)? -> bewegungsmelder
    kinder sicherung -> kindersicherung
    warm wasser -> warmwasser
    backup ?sicherung|datensicherung -> datei
    (?:stereo|klima|solar|musik|telefon|hifi|photovoltaik|pv)anlage -> klimaanlage
    temperatur ?sensor(?:en)?|feuchte ?sensor(?:en)?|co2 ?sensor -> thermostat
    kontakt(?= (?:anrufen|hinzufuegen|speichern)) -> liste
    fenster(?= (?:im browser|des browsers|auf dem (?:pc|rechner|computer|laptop))) -> tab
    (?:browser|programm|app)fenster -> tab
    ((?:den|dem|der|des|im|am|mein\w*|unser\w*) )safe -> \1tresor
    safe(?= (?:auf|oeffn|zu|entriegel|entsperr)) -> tresor
    (riegel|kette)(?: bitte)? vor -> \1 zu
    setz (?:mal |bitte |schon mal )?(?:das |etwas )?(?:tee|kaffee|nudel)?wasser auf -> koche
    koche? (?:mal |bitte |uns |mir )?(?:\w+ )?wasser -> koche
    wasser (?:etwas |wieder )?(?:warm|waermer|heiss) -> warmwasser
    nach unten -> runter
    nach oben -> hoch
    (mach|schliess|schalt|dreh|zieh|fahr|lass|sperr|stell)(?:e|s|st|t)? (s|se|n|
        es)(?= ) -> \1 es
    (mach|schliess|sperr|drueck|zieh|fahr|kurbel)ste -> \1
    """
)
