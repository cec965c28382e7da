"""The guard's words in Spanish, French, Italian and Dutch. Data only; lexicon.py explains the form.

These tables are smaller than the English and the German one: more harmless requests are asked for
twice, and more idioms pass.
"""

from __future__ import annotations

from appliance.tools.guard.lexicon import Language, Tag

SPANISH = Language(
    rows=(
        (
            Tag.DOOR,
            """puerta puertas porton verja garaje persiana persianas cortina cortinas estor
         trampilla barrera contraventana contraventanas compuerta""",
        ),
        (Tag.WINDOW, "ventana ventanas claraboya tragaluz"),
        (Tag.AWNING, "toldo toldos"),
        (Tag.VALVE, "valvula valvulas grifo grifos agua riego"),
        (Tag.LOCK, "cerradura cerraduras cerrojo cerrojos candado pestillo pestillos"),
        (Tag.ALARM, "alarma alarmas camara camaras sensor sensores detector vigilancia"),
        (Tag.SIREN, "sirena sirenas"),
        (Tag.OPEN, "abre abra abran abrir abreme abrelo abrela abierto abierta abiertas abiertos"),
        (Tag.UNLOCK, "desbloque* desarm* desatranc* descorre*"),
        (Tag.CLOSE, "cierra cierre cerrar cerrada cerrado echa bloquea"),
        (Tag.LOWER, "baja baje bajar"),
        (Tag.RAISE, "sube suba subir levanta levante"),
        (Tag.ARM, "activa active activar conecta enciende arma"),
        (Tag.OFF, "apaga apague apagar desactiva* desconecta* silencia quita corta"),
        (Tag.DEVICE, "luz luces lampara musica"),
        (Tag.PLACE, "en de del cerca junto"),
        (Tag.ARTICLE, "el la los las un una"),
    ),
    polite=(r"por favor|puedes|podrias",),
    asks=(r"esta|estan|que|cual|cuales|quien|cuando|donde|como",),
    idioms=(
        r"(?:deja|dejar|deje|dejad|haz|hacer) (?:\w+ ){0,3}?(?:entrar|pasar|salir|entre|pase)",
    ),
)
FRENCH = Language(
    rows=(
        (
            Tag.DOOR,
            """porte portes portail portails portillon garage volet volets rideau rideaux
         trappe barriere barrieres coffre persienne persiennes chatiere""",
        ),
        (Tag.WINDOW, "fenetre fenetres velux lucarne"),
        (Tag.AWNING, "auvent"),
        (Tag.VALVE, "vanne vannes robinet robinets eau arrosage gaz"),
        (Tag.LOCK, "serrure serrures verrou verrous cadenas loquet"),
        (Tag.OPENER, "gache"),
        (Tag.ALARM, "alarme alarmes camera cameras detecteur detecteurs capteur capteurs"),
        (Tag.SIREN, "sirene sirenes"),
        (Tag.OPEN, "ouvre ouvres ouvrez ouvrir ouvert ouverte ouverts ouvertes entrouvre"),
        (Tag.UNLOCK, "deverrouill* desarm* debloqu*"),
        (Tag.CLOSE, "ferme fermes fermez fermer fermee ferm verrouille verrouillez verrouiller"),
        (Tag.LOWER, "baisse baissez baisser descends descendre"),
        (Tag.RAISE, "monte montez monter leve levez lever remonte releve"),
        (Tag.ARM, "active activez activer allume enclenche"),
        (Tag.OFF, "coupe coupez couper desactiv* eteins eteignez eteindre arrete arretez"),
        (Tag.DEVICE, "lumiere lumieres lampe lampes musique chauffage"),
        (Tag.PLACE, "dans pres devant sur"),
        (Tag.ARTICLE, "le les un une"),
    ),
    joins=((r"(les|des|mes|nos) stores", r"\1 volets"), (r"le store", "le volet")),
    polite=(r"s il te plait|peux tu|pourrais tu|est ce que tu peux",),
    asks=(r"est ce|est il|est elle|quel|quelle|quels|quelles|qui|quand|combien|comment|y a t il",),
    idioms=(
        r"(?:laiss\w+|fais|faites|faire) (?:\w+ ){0,3}?(?:entrer|sortir|passer)",
        r"(?:entrer|sortir) le",
    ),
)
ITALIAN = Language(
    rows=(
        (
            Tag.DOOR,
            """porta porte portone cancello cancelli tapparella tapparelle persiana persiane
         serranda serrande tenda tende botola sbarra cassaforte""",
        ),
        (Tag.WINDOW, "finestra finestre lucernario"),
        (Tag.VALVE, "valvola valvole rubinetto rubinetti acqua irrigazione"),
        (Tag.LOCK, "serratura serrature lucchetto chiavistello catenaccio"),
        (Tag.ALARM, "allarme allarmi telecamera telecamere sensore sensori rilevatore antifurto"),
        (Tag.SIREN, "sirena sirene"),
        (Tag.OPEN, "apri apra aprimi aprite aprire apre aperto aperta aperte aperti"),
        (Tag.UNLOCK, "sblocc* disinser* disarm*"),
        (Tag.CLOSE, "chiudi chiuda chiudere chiusa chiuso blocca"),
        (Tag.LOWER, "abbassa abbassare"),
        (Tag.RAISE, "alza alzare solleva"),
        (Tag.ARM, "attiva attivare inserisci accendi"),
        (Tag.OFF, "spegni spegnere disattiv* togli"),
        (Tag.DEVICE, "luce luci lampada musica riscaldamento"),
        (Tag.PLACE, "nel nella vicino sopra"),
        (Tag.ARTICLE, "il lo gli"),
    ),
    polite=(r"per favore|puoi|potresti",),
    asks=(r"quale|quali|chi|quando|dove|che",),
    idioms=(r"(?:fai|fa|fare|lascia|lasciare|lasci) (?:\w+ ){0,3}?(?:entrare|uscire|passare)",),
)
DUTCH = Language(
    rows=(
        (Tag.DOOR, """*deur *deuren *poort *poorten *garage rolluik rolluiken gordijn gordijnen luik
         luiken *slagboom kluis jaloezie jaloezieen rolgordijn rolgordijnen"""),
        (Tag.WINDOW, "raam ramen dakraam keukenraam"),
        (Tag.AWNING, "zonwering zonnescherm luifel"),
        (Tag.VALVE, "kraan kranen klep afsluiter"),
        (Tag.LOCK, "deurslot hangslot grendel grendels vergrendeling"),
        (Tag.OPENER, "deuropener zoemer"),
        (Tag.ALARM, "alarm alarmsysteem camera cameras bewegingsmelder bewegingsmelders"),
        (Tag.UNLOCK, "ontgrendel* ontsluit* openmaken opendoen openzetten"),
        (Tag.CLOSE, "dicht sluit sluiten dichtdoen vergrendel gesloten"),
        (Tag.LOWER, "omlaag"),
        (Tag.RAISE, "omhoog"),
        (Tag.ARM, "aan inschakelen aanzetten"),
        (Tag.OFF, "uit uitzetten uitschakelen"),
        (Tag.DEVICE, "lampen verwarming muziek"),
        (Tag.PLACE, "bij naast boven op"),
        (Tag.ARTICLE, "de het een"),
    ),
    joins=((r"van (?:het|t|zijn) slot|slot eraf", "ontgrendel"), (r"op (?:het )?slot", "dicht"),
           (r"doe (\w+ )?op slot", r"sluit \1")),
    polite=(r"alsjeblieft|kun je|kan je|wil je|zou je",),
    asks=(r"hoe|wat|wanneer|waar|welke|staat|staan|zijn|heeft",),
    idioms=(r"laat (?:\w+ ){1,4}?(?:binnen|erin|eruit|naar binnen|naar buiten)|binnenlaten|"
            r"haal (?:\w+ ){1,4}?slot",),
)  # fmt: skip
OTHERS = (SPANISH, FRENCH, ITALIAN, DUTCH)
