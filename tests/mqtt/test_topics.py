"""The topics of one box: valid characters, all below the root of the box."""

from __future__ import annotations

import re

import msgspec
import pytest
from paho.mqtt.client import topic_matches_sub

from appliance.mqtt.topics import Topics
from appliance.settings import load_defaults

TOPICS = Topics("interlude", "homeassistant", "0a1b2c3d")


@pytest.mark.parametrize("topic", [TOPICS.discovery, *TOPICS.retained, TOPICS.command("say")])
def test_topics_have_only_characters_that_home_assistant_and_brokers_accept(topic: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)+", topic)


def test_the_name_of_a_topic_is_the_part_below_the_root_of_the_box() -> None:
    assert TOPICS.name_of("interlude/0a1b2c3d/set/volume") == "set/volume"
    assert TOPICS.name_of("interlude/other/set/volume") != "set/volume"


def test_the_retained_topics_begin_with_discovery_and_contain_no_events() -> None:
    assert TOPICS.retained[0] == TOPICS.discovery
    assert not set(TOPICS.retained) & {TOPICS.conversation, TOPICS.button, TOPICS.timer}


def test_slashes_around_an_owners_base_and_prefix_make_no_empty_level() -> None:
    link = msgspec.structs.replace(
        load_defaults().link, base="/house/voice/", discovery_prefix="ha/"
    )
    topics = Topics.of(link, "x")
    assert topics.state == "house/voice/x/state"
    assert topics.birth == "ha/status"
    assert all("//" not in topic and topic[0] != "/" for topic in topics.retained)


@pytest.mark.parametrize(
    ("topic", "covered"),
    [
        (TOPICS.set("volume"), True), (TOPICS.command("say"), True), (TOPICS.state, False),
        (TOPICS.response, False), (f"{TOPICS.root}/set/a/b", False), ("interlude/y/cmd/say", False),
    ],
)  # fmt: skip
def test_the_subscription_covers_commands_and_no_topic_that_the_box_publishes(
    topic: str, covered: bool
) -> None:
    assert any(topic_matches_sub(wanted, topic) for wanted in TOPICS.commands) == covered
