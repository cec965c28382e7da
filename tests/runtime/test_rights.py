"""The parts that keep network access, and those that may create Unix sockets."""

from __future__ import annotations

from appliance import settings
from appliance.runtime import process_table, rights


def test_only_three_parts_may_create_unix_sockets() -> None:
    plain = settings.load_defaults()
    every = {row.name: rights.unix_sockets(row.name, plain) for row in process_table.PROCESSES}
    allowed = {name: kind for name, kind in every.items() if kind != "none"}
    assert allowed == {"conductor": "door", "capture": "any", "playback": "any"}
    keyboard = settings.load(overrides={"panel": {"gpio": "keyboard"}})
    assert rights.unix_sockets("panel", keyboard) == "any"


# ── network ──────────────────────────────────────────────────────────────────────────────────
def test_by_default_only_the_link_keeps_the_network() -> None:
    default = settings.load_defaults()
    kept = [row.name for row in process_table.PROCESSES if rights.networked(row.name, default)]
    assert set(kept) <= {"link"}
    assert rights.networked("link", default)


def test_the_thinker_keeps_the_network_only_for_a_configured_server() -> None:
    server = {"thinking": {"remote": {"url": "http://192.168.1.5:8080/v1"}}}
    assert not rights.networked("thinker", settings.load_defaults())
    assert rights.networked("thinker", settings.load(overrides=server))
