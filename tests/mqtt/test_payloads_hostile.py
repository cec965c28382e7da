"""Every topic that the link reads, with hostile payloads of every kind and size.

Each becomes a message that fits a channel, or a short refusal, quickly and in little memory."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.messages.registry import Message
from appliance.mqtt.command_topics import COMMANDS, CommandRejected
from appliance.mqtt.connection import MOST_BYTES
from appliance.runtime.ipc import channel
from appliance.runtime.ipc.channel import Channel
from tests.memory_peak import Peak
from tests.mqtt.test_home_assistant import Scene

TOPICS = (
    "homeassistant/status", "interlude/x/ha/response",
    *(f"interlude/x/{command.name}" for command in COMMANDS),
    "interlude/x/set/" + "x" * 5000, "interlude/x/cmd/\u202e",
)  # fmt: skip
# More than a connection accepts: tests the handlers on their own.
HUGE = 64 * 2**20
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=50),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(("id", "type", "speech", "x")), inner, max_size=4)
    ),
    max_leaves=10,
)
PAYLOADS = st.one_of(
    st.binary(max_size=300),
    st.text(max_size=2000).map(lambda text: text.encode("utf-8", "surrogatepass")),
    JSON.map(lambda value: str(value).replace("'", '"').encode("utf-8", "replace")),
    st.sampled_from(
        (b"[", b'{"id":', b"9", b"\xf0\x9f\xa7\xa1", b"\x00", b" ", b"\xcc\x81")
    ).flatmap(
        lambda piece: st.integers(0, MOST_BYTES).map(lambda n: piece * (n // len(piece)))
    ),
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    topic=st.sampled_from(TOPICS), payload=PAYLOADS, retained=st.booleans(),
    now_s=st.floats(0, 1e6),
)  # fmt: skip
@pytest.mark.long
def test_every_payload_is_a_message_that_fits_a_channel_or_is_refused(
    topic: str, payload: bytes, retained: bool, now_s: float
) -> None:
    house = Scene().connect().house
    try:
        received = house.on_message(topic, payload, now_s, retained=retained)
    except CommandRejected as refused:
        text = str(refused)
        assert len(text) < 200
        assert text.isprintable()
        return
    if isinstance(received, Message):
        near, far = (Channel(end) for end in channel.pair())
        assert near.send(received)
        assert not near._logged_kinds
        assert far.receive() == received


@pytest.fixture(
    scope="module",  # so that 64 MiB are allocated five times and not once a topic
    params=[b"x", b"[", b'{"a":', b"\xf0\x9f\xa7\xa1", b"\xff"],
    ids=["x", "[", "{", "wide", "ff"],
)
def huge(request: pytest.FixtureRequest) -> bytes:
    piece: bytes = request.param
    return piece * (HUGE // len(piece))


@pytest.mark.parametrize("topic", TOPICS)
def test_a_payload_of_64_megabytes_is_refused_by_its_length(topic: str, huge: bytes) -> None:
    house, payload = Scene().connect().house, huge
    peak, began_s = Peak(), time.monotonic()
    if topic == TOPICS[0]:
        assert house.on_message(topic, payload, 1e6, retained=False) is None
    else:
        with pytest.raises(CommandRejected):
            house.on_message(topic, payload, 1e6, retained=False)
    assert time.monotonic() - began_s < 5
    assert peak.mib < 16
