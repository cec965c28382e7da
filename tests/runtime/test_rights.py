"""Which part keeps the network, and which may make Unix sockets."""

from __future__ import annotations

from appliance import settings
from appliance.runtime import process_table, rights


def test_only_parts_with_a_reason_make_unix_sockets() -> None:
    plain = settings.load_defaults()
    every = {row.name: rights.unix_sockets(row.name, plain) for row in process_table.PROCESSES}
    made = {name: kind for name, kind in every.items() if kind != "none"}
    assert made == {"conductor": "door", "capture": "any", "playback": "any"}
    keyboard = settings.load(overrides={"panel": {"gpio": "keyboard"}})
    assert rights.unix_sockets("panel", keyboard) == "any"


# ── who keeps it ─────────────────────────────────────────────────────────────────────────────
def test_by_default_no_row_but_the_link_keeps_the_network() -> None:
    default = settings.load_defaults()
    kept = [row.name for row in process_table.PROCESSES if rights.networked(row.name, default)]
    assert set(kept) <= {"link"}
    assert rights.networked("link", default)


def test_the_thinker_keeps_it_only_for_a_server_that_the_owner_named() -> None:
    server = {"thinking": {"remote": {"url": "http://192.168.1.5:8080/v1"}}}
    assert not rights.networked("thinker", settings.load_defaults())
    assert rights.networked("thinker", settings.load(overrides=server))
