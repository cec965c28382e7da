"""The announcement by avahi follows the settings."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import pytest

from appliance.page.announcement import address_of, announcement
from appliance.settings import PageSettings, load


def page(**config: Any) -> PageSettings:
    return load(None, {"page": config}).page


def announced(settings: PageSettings) -> list[tuple[str | None, ...]]:
    services = ET.fromstring(announcement(settings)).findall("service")  # noqa: S314  # our own file
    keys = ("type", "port", "txt-record")
    return [tuple(each.findtext(key) for key in keys) for each in services]


@pytest.fixture(autouse=True)
def as_a_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", "/var/lib/interlude")


def test_by_default_the_page_at_port_80_is_announced() -> None:
    assert announced(page()) == [
        ("_http._tcp", "80", "path=/"), ("_interlude._tcp", "80", "scheme=http"),
    ]  # fmt: skip


def test_another_port_is_announced() -> None:
    assert {row[1] for row in announced(page(port=8123))} == {"8123"}


def test_with_a_certificate_the_encrypted_page_is_announced() -> None:
    assert announced(page(certificate="/etc/interlude/page.pem")) == [
        ("_https._tcp", "443", "path=/"), ("_interlude._tcp", "443", "scheme=https"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "config",
    [{"enabled": False}, {"listen": "127.0.0.1"}, {"listen": "127.1.2.3"}, {"listen": "::1"}],
)
def test_a_page_unreachable_from_the_network_is_not_announced(config: dict[str, Any]) -> None:
    assert announcement(page(**config)) == b""


@pytest.mark.parametrize(
    ("config", "address"),
    [
        ({}, "http://{}"), ({"port": 8123}, "http://{}:8123"), ({"enabled": False}, ""),
        ({"certificate": "/x.pem"}, "https://{}"), ({"listen": "127.0.0.1"}, ""),
        ({"certificate": "/x.pem", "port": 80}, "https://{}:80"),
    ],
)  # fmt: skip
def test_the_pages_address_has_a_placeholder_for_the_boxs_name(
    config: dict[str, Any], address: str
) -> None:
    assert address_of(page(**config)) == address


def test_on_a_development_machine_nothing_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STATE_DIRECTORY")
    assert announcement(page()) == b""
    assert announcement(page(enabled=True)) == b"", "it listens on 127.0.0.1"
