"""A model server's address is shown without its secrets; values out of range are refused."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from appliance.settings import RemoteSettings, load_defaults
from tests.settings.written import refused


def remote_at(url: str) -> RemoteSettings:
    return msgspec.structs.replace(load_defaults().thinking.remote, url=url)


@pytest.mark.parametrize(
    ("url", "server", "secret"),
    [
        ("http://192.168.1.5:8080/v1", "192.168.1.5:8080", False),
        ("https://user:s3cret@house.local/v1", "house.local", True),
        ("https://house.local/v1?key=s3cret", "house.local", True),
        ("https://a@b@house.local", "house.local", True),
        ("", "", False),
    ],
)
def test_a_server_is_named_without_its_login(url: str, server: str, secret: bool) -> None:
    assert (remote_at(url).server, remote_at(url).has_secret) == (server, secret)


def test_an_invalid_address_is_shown_as_invalid() -> None:
    assert remote_at("http://[s3cret").server == "an invalid address"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("thinking: {remote: {timeout_s: 0}}", "thinking.remote.timeout_s"),
        ("thinking: {context_tokens: 100}", "thinking.context_tokens"),
        ("thinking: {top_p: 1.5}", "thinking.top_p"),
        ("speaking: {words_per_minute: 20}", "speaking.words_per_minute"),
        ("speaking: {duck_db: 0}", "speaking.duck_db"),
        ("memory: {recall_turns: 201}", "memory.recall_turns"),
    ],
)
def test_a_value_out_of_range_is_refused_with_its_key(tmp_path: Path, text: str, key: str) -> None:
    assert f"`{key}`" in refused(tmp_path, text)
