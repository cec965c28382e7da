"""The blueprint of the house bridge: which requests it refuses until they are confirmed.

Its templates are rendered by jinja2 with stand-ins for Home Assistant's functions. What ran in
Home Assistant itself stands in docs/benchmarks/home-assistant.md.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jinja2
import pytest

from appliance.messages.tools import HouseRequest
from appliance.mqtt.home_tool import CONFIRM, HomeToolBridge
from tests.mqtt.test_blueprints import load

BLUEPRINT = load(Path(__file__).parents[2] / "docs/blueprints/house-bridge.yaml")
LABEL = "Interlude asks twice"


def slugify(text: object, separator: str = "_") -> str:
    """As Home Assistant's: small ASCII letters and digits."""
    plain = unicodedata.normalize("NFKD", str(text).replace("ß", "ss")).encode("ascii", "ignore")
    return re.sub(r"[^a-z0-9]+", separator, plain.decode().lower()).strip(separator)


@dataclass
class States:
    """Home Assistant's `states`: an entity's state when called, a domain's entities by name."""

    entities: dict[str, tuple[str, str, int]]  # state, name, supported features

    def __call__(self, entity: str) -> str:
        return self.entities[entity][0]

    def __getattr__(self, domain: str) -> list[SimpleNamespace]:
        return [
            SimpleNamespace(entity_id=entity, name=name)
            for entity, (_, name, _) in self.entities.items()
            if entity.startswith(f"{domain}.")
        ]


@dataclass
class HomeAssistant:
    """A house: `entities` with their state and name; `labelled`: those with the label."""

    entities: dict[str, tuple[str, str, int]]
    labelled: tuple[str, ...] = ()
    more_words: tuple[str, ...] = ()
    areas: tuple[str, ...] = ("Kitchen", "Hall")
    spoken: list[str] = field(default_factory=list)

    def ask(self, text: str, **payload: object) -> dict[str, Any]:
        """Run the automation on a request. Returns what it publishes."""
        trigger = {
            "topic": "interlude/x/ha/request",
            "payload_json": {"id": "1", "text": text, **payload},
        }
        variables = dict(BLUEPRINT["variables"])
        variables |= {"trigger": trigger, "label": LABEL, "more_words": self.more_words}
        variables["touched"] = self._render(BLUEPRINT["variables"]["touched"], variables)
        guard, call, answer = BLUEPRINT["actions"]
        assert call["action"] == "conversation.process"
        if self._render(guard["if"][0], variables):
            published, stop = guard["then"]
            assert "stop" in stop
            return self._publish(published, variables)
        self.spoken.append(self._render(call["data"]["text"], variables, parse=False))
        done = {"response_type": "action_done", "speech": {"plain": {"speech": "Done"}}, "data": {}}
        return self._publish(answer, variables | {"answer": {"response": done}})

    def _publish(self, action: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        assert action["action"] == "mqtt.publish"
        topic = self._render(action["data"]["topic"], variables, parse=False)
        assert topic == "interlude/x/ha/response"
        published: dict[str, Any] = json.loads(
            self._render(action["data"]["payload"], variables, parse=False)
        )
        return published

    def _render(self, template: str, variables: dict[str, Any], *, parse: bool = True) -> Any:
        environment = jinja2.Environment(  # noqa: S701 - no page is made of it
            undefined=jinja2.ChainableUndefined, extensions=["jinja2.ext.loopcontrols"]
        )
        attributes = {
            entity: {"friendly_name": name, "supported_features": features}
            for entity, (_, name, features) in self.entities.items()
        }
        functions = {
            "state_attr": lambda entity, name: attributes[entity].get(name),
            "label_entities": lambda label: list(self.labelled) if label == LABEL else [],
            "areas": lambda: list(self.areas),
            "area_name": lambda area: area,
        }
        environment.globals.update(functions, states=States(self.entities))
        environment.filters.update(
            functions, slugify=slugify, tojson=json.dumps,
            regex_search=lambda text, pattern: re.search(pattern, text) is not None,
        )  # fmt: skip
        text = environment.from_string(template).render(variables).strip()
        return eval(text) if parse else text  # noqa: S307 - as Home Assistant parses results


def house(**changes: Any) -> HomeAssistant:
    entities = {
        "lock.front": ("locked", "Front door", 0),
        "lock.back": ("unlocked", "Back door", 0),
        "lock.nuki": ("locked", "Nuki", 0),
        "cover.garage": ("closed", "Garage", 15),
        "cover.blind": ("open", "Kitchen blind", 15),
        "valve.main": ("closed", "Main water", 0),
        "alarm_control_panel.home": ("armed_away", "House alarm", 0),
        "siren.hall": ("off", "Siren", 0),
        "light.front": ("off", "Front light", 0),
        "light.house": ("off", "House lights", 0),
        "switch.relay": ("off", "Relay four", 0),
        "scene.evening": ("scening", "Good evening", 0),
    }
    return HomeAssistant(entities, ("switch.relay", "scene.evening"), **changes)


@pytest.mark.parametrize(
    ("text", "domain", "name"),
    [
        ("unlock the front door", "lock", "Front door"),
        ("UNLOCK the Front-Door!", "lock", "Front door"),
        ("Mach die Haustür auf", "lock", "Front door"),
        ("open nuki", "lock", "Nuki"),
        ("open the garage", "cover", "Garage"),
        ("Mach das Tor auf", "cover", "Garage"),
        ("raise the shutters", "cover", "Garage"),
        ("turn on the water", "valve", "Main water"),
        ("disarm", "alarm_control_panel", "House alarm"),
        ("turn off the alarm", "alarm_control_panel", "House alarm"),
        ("sound the siren", "siren", "Siren"),
        ("switch on relay four", "switch", "Relay four"),
        ("activate good evening", "scene", "Good evening"),
        ("open the kitchen blind and the garage", "cover", "Garage"),
    ],
)
def test_what_touches_something_guarded_is_refused_until_it_is_confirmed(
    text: str, domain: str, name: str
) -> None:
    home = house()
    answer = home.ask(text)
    assert (answer["type"], answer["domain"]) == (CONFIRM, domain)
    assert name in answer["name"]
    assert home.spoken == []
    assert home.ask(text, confirmed=True)["type"] == "action_done"
    assert home.spoken == [text]


@pytest.mark.parametrize("claim", ["true", 1, "yes", None, False, [True]])
def test_only_true_confirms(claim: object) -> None:
    home = house()
    assert home.ask("unlock the front door", confirmed=claim, harmless=claim)["type"] == CONFIRM
    assert home.spoken == []


@pytest.mark.parametrize(
    "text",
    [
        "turn on the front light",
        "turn on the house lights",
        "set the temperature to 20",
        "turn on the ventilator",
        "navigate home",
        "what is on my list",
        "warm up the hall",
        "close the kitchen blind",
        "lock the back door",
        "",
    ],
)
def test_what_touches_nothing_that_is_closed_is_done_at_once(text: str) -> None:
    home = house()
    assert home.ask(text)["type"] == "action_done"
    assert home.spoken == [text]


def test_a_question_is_passed_on_if_the_box_has_read_it_as_one() -> None:
    home = house()
    assert home.ask("is the front door locked")["type"] == CONFIRM, "as an older box sends it"
    assert home.ask("is the front door locked", harmless=True)["type"] == "action_done"


@pytest.mark.parametrize(
    ("entity", "state", "text"),
    [("cover.garage", "open", "close the garage"), ("valve.main", "open", "main water off"),
     ("alarm_control_panel.home", "disarmed", "arm the house alarm"),
     ("lock.front", "unlocked", "lock the front door")],
)  # fmt: skip
def test_what_is_open_already_cannot_be_opened(entity: str, state: str, text: str) -> None:
    home = house()
    assert home.ask(text)["type"] == CONFIRM
    _, name, features = home.entities[entity]
    home.entities[entity] = (state, name, features)
    assert home.ask(text)["type"] == "action_done"


@pytest.mark.parametrize("state", ["locked", "unknown", "unavailable", "jammed", "locking"])
def test_an_unknown_state_counts_as_closed(state: str) -> None:
    home = house()
    home.entities["lock.front"] = (state, "Front door", 0)
    assert home.ask("lock the front door")["type"] == CONFIRM


def test_a_lock_that_can_unlatch_is_never_open_already() -> None:
    home = house()
    home.entities["lock.front"] = ("unlocked", "Front door", 1)
    assert home.ask("open the front door")["type"] == CONFIRM


def test_the_owners_words_touch_everything() -> None:
    assert house().ask("open sesame street")["type"] == CONFIRM, "by the verb"
    assert house().ask("start the big show")["type"] == "action_done"
    assert house(more_words=("Big Show",)).ask("start the big show")["type"] == CONFIRM


def test_the_box_understands_the_refusal() -> None:
    bridge = HomeToolBridge(lambda: 0.5)
    request = json.loads(bridge.encode_request(HouseRequest(3, "unlock the front door")))
    refusal = house().ask(request["text"], id=request["id"], confirmed=request["confirmed"],
                          harmless=request["harmless"])  # fmt: skip
    refusal["id"] = request["id"]
    response = bridge.parse_response(json.dumps(refusal).encode(), retained=False)
    assert (response.confirm, response.done, response.name) == (True, False, "Front door")


@pytest.mark.parametrize(("topic", "runs"), [("interlude/x/ha/request", True),
                         ("interlude/+/ha/request", False), ("interlude/#", False)])  # fmt: skip
def test_the_automation_listens_to_one_box_only(topic: str, runs: bool) -> None:
    assert "default" not in BLUEPRINT["blueprint"]["input"]["request_topic"]
    (condition,) = BLUEPRINT["conditions"]
    variables = {
        "trigger": {"payload_json": {"text": "x"}, "retain": False}, "request_topic": topic,
    }  # fmt: skip
    assert bool(house()._render(condition, variables)) is runs
    retained = {"payload_json": {"text": "x"}, "retain": True}
    assert not house()._render(condition, variables | {"trigger": retained})
