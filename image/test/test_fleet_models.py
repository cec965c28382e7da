"""A fleet whose boxes have an owner: the site leaves what a seed said, and brings models once.

Two boxes in containers, Ansible over ssh, and a model hub of our own that counts what is fetched.
They build on each other, in this order.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from image.test import boxes, tiny
from image.test.boxes import Box
from image.test.fleet import ROOT, Fleet, Played, scratch, started
from tests.models.hub_server import REPOSITORY, HubServer

pytestmark = pytest.mark.timeout(900)

SETTINGS = "/etc/interlude/settings.yaml"
SEED = "# Of the kitchen.\nmode: wake_word\nlink:\n  broker: homeassistant.local\n  name: Kitchen\n"
FILES = {"text.gguf": b"\x00text\xff" * 700_001, "sub/audio.gguf": b"audio" * 1001}
MODELS = "/var/lib/interlude-models"
TOLD: dict[str, object] = {
    "interlude_secrets": {"mqtt-password": "hunter2"},
    "interlude_box_settings": {"thinking": {"model": "gemma-4-e2b"}},
}
# Of the environment, for the hub's library: what a tiny release lacks of it.
HUB = ("anyio", "filelock", "httpcore2", "httpx2", "huggingface_hub", "idna", "numpy", "numpy.libs",
       "rich", "tqdm", "truststore")  # fmt: skip


@pytest.fixture(scope="module")
def hub(fleet: Fleet) -> Iterator[HubServer]:
    del fleet  # whose bridge it listens on
    with HubServer(FILES, host=f"{boxes.NETWORK}.1") as server:
        yield server


@pytest.fixture(scope="module")
def fleet() -> Iterator[Fleet]:
    with scratch() as folder, started(folder, 2) as made:
        yield made


@pytest.fixture(scope="module")
def release(fleet: Fleet, hub: HubServer) -> Path:
    """One that knows a model of ours, and our hub."""
    rows = yaml.safe_load((ROOT / "appliance/models/catalogue.yaml").read_text())
    files = {
        role: {"path": path, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for role, (path, data) in zip(("text", "audio"), FILES.items(), strict=True)
    }
    rows["some"] = {**rows["gemma-4-e2b"], "repository": REPOSITORY, "files": files}
    del rows["some"]["revision"]
    command = tiny.COMMAND.replace("\nhere=", f"\nexport HF_ENDPOINT={hub.endpoint}\nhere=", 1)
    return tiny.make(
        fleet.folder, fleet.key, "0.1.0", machine=platform.machine(), python="any",
        needed=(*tiny.NEEDED, *HUB),
        more={
            "lib/appliance/models/catalogue.yaml": yaml.safe_dump(rows, sort_keys=False).encode(),
            "bin/interlude": command.encode(),
        },
    )  # fmt: skip


def site(fleet: Fleet, *words: str, **said: object) -> Played:
    """The site, with words of the inventory."""
    kept = {"interlude_models_cache": str(fleet.folder / "kept"), **said}
    return fleet.play("site.yml", "--skip-tags", "packages", *words, "-e", json.dumps(kept))


def settings(box: Box) -> dict[str, object]:
    return dict(yaml.safe_load(box.ssh(f"cat {SETTINGS}").stdout))


def whole(box: Box) -> bool:
    """Every byte of it is there, root's, and nothing else lies beside it."""
    said = box.ssh(f"cd {MODELS}/some && sha256sum *.gguf; stat -c '%U %G' *; ls -A").stdout
    sums = [hashlib.sha256(data).hexdigest() for data in FILES.values()]
    return (
        all(digest in said for digest in sums)
        and set(re.findall(r"^\S+ \S+$", said, re.M)) == {"root root"}
        and ".partial" not in said
    )


def test_what_a_seed_said_stays_unless_the_inventory_says_otherwise(
    fleet: Fleet, release: Path
) -> None:
    box = fleet.boxes[0]
    box.ssh(f"mkdir -p /etc/interlude && printf '%s' '{SEED}' >{SETTINGS}")
    played = site(fleet, interlude_release_file=str(release), **TOLD)
    assert played.code == 0, played.said[-3000:]
    assert settings(box) == {
        "mode": "open", "link": {"broker": "homeassistant.local", "name": "Kitchen"},
        "thinking": {"model": "gemma-4-e2b"},
    }  # fmt: skip
    assert box.ssh(f"head -1 {SETTINGS}").stdout == "# Of the kitchen.\n"
    assert settings(fleet.boxes[1]) == {"mode": "open", "thinking": {"model": "gemma-4-e2b"}}
    # A first start is with the box's own settings, and with a model that it has.
    steps = ("mode: wake_word -> open", "TASK [release : Copy it", "thinking.model: (not set) ->")
    places = [played.said.index(step) for step in steps]
    assert places == sorted(places)
    assert "mode: wake_word -> open" in played.said
    assert "link." not in played.said
    assert "secret mqtt-password: (not set) -> (not shown)" in played.said
    assert "hunter2" not in played.said


def test_a_second_run_changes_nothing_and_shows_nothing(fleet: Fleet, release: Path) -> None:
    played = site(fleet, interlude_release_file=str(release), **TOLD)
    assert played.code == 0, played.said[-3000:]
    assert played.changed() == {"box1": 0, "box2": 0}
    assert '"msg"' not in played.said


def test_a_look_beforehand_writes_nothing(fleet: Fleet) -> None:
    told = {"interlude_box_settings": {"link": {"name": "Cellar"}},
            "interlude_secrets": {"mqtt-password": "hunter3"}}  # fmt: skip
    before = [box.ssh(f"sha256sum {SETTINGS} /etc/interlude/secrets/*").stdout
              for box in fleet.boxes]  # fmt: skip
    played = site(fleet, "--check", "--diff", "--tags", "settings", **told)
    assert played.code == 0, played.said[-3000:]
    assert "link.name: Kitchen -> Cellar" in played.said
    assert "link.name: (not set) -> Cellar" in played.said
    assert "secret mqtt-password: (not shown) -> (not shown)" in played.said
    assert "hunter" not in played.said
    after = [box.ssh(f"sha256sum {SETTINGS} /etc/interlude/secrets/*").stdout
             for box in fleet.boxes]  # fmt: skip
    assert before == after


def test_null_removes_a_key_and_a_secret(fleet: Fleet) -> None:
    told = {"interlude_box_settings": {"link": {"broker": None}},
            "interlude_secrets": {"mqtt-password": None}}  # fmt: skip
    played = site(fleet, "--tags", "settings", **told)
    assert played.code == 0, played.said[-3000:]
    assert settings(fleet.boxes[0])["link"] == {"name": "Kitchen"}
    assert fleet.boxes[0].ssh("ls /etc/interlude/secrets").stdout == ""


def test_settings_that_the_box_cannot_use_are_not_written(fleet: Fleet) -> None:
    played = site(fleet, "--tags", "settings", interlude_box_settings={"mode": "loud"})
    assert played.code != 0
    assert settings(fleet.boxes[0])["mode"] == "open"


def test_a_model_is_fetched_once_for_all_boxes(fleet: Fleet, hub: HubServer) -> None:
    look = site(fleet, "--check", "--tags", "models", interlude_models=["some"])
    assert look.code == 0, look.said[-3000:]
    assert hub.requests == []
    played = site(fleet, "--tags", "models", interlude_models=["some"])
    assert played.code == 0, played.said[-3000:]
    assert "Apache-2.0" in played.said
    assert len(hub.gets) == len(FILES)
    assert [whole(box) for box in fleet.boxes] == [True, True]
    assert {path.name for path in (fleet.folder / "kept/some").iterdir()} == {
        "text.gguf", "audio.gguf",
    }  # fmt: skip
    again = site(fleet, "--tags", "models", interlude_models=["some"])
    assert (again.code, again.changed()) == (0, {"box1": 0, "box2": 0}), again.said[-3000:]
    assert len(hub.gets) == len(FILES)


def test_what_lies_here_or_on_another_box_is_not_fetched_again(
    fleet: Fleet, hub: HubServer
) -> None:
    box = fleet.boxes[1]
    kept = fleet.folder / "kept/some"
    (kept / "audio.gguf").unlink()
    (kept / "text.gguf").write_bytes(b"damaged")
    box.ssh(f"rm -r {MODELS}/some")
    played = site(fleet, "--tags", "models", interlude_models=["some"])
    assert played.code == 0, played.said[-3000:]
    assert whole(box)
    assert len(hub.gets) == len(FILES)


def test_a_part_is_gone_on_with_and_a_damaged_one_is_replaced(fleet: Fleet) -> None:
    own = "-o interlude-model -g interlude"
    begun = (f"cd {MODELS} && install -d {own} .fetch/some && rm -f .fetch/some/* && install {own}"
             " some/text.gguf .fetch/some/text.gguf.partial && rm -r some")  # fmt: skip
    assert [box.ssh(begun).returncode for box in fleet.boxes] == [0, 0]
    fleet.boxes[0].ssh(f"truncate -s 1000003 {MODELS}/.fetch/some/text.gguf.partial")
    fleet.boxes[1].ssh(
        f"cd {MODELS}/.fetch/some; : >text.gguf.partial; truncate -s 9999 text.gguf.partial"
    )
    played = site(fleet, "--tags", "models", interlude_models=["some"])
    assert played.code == 0, played.said[-3000:]
    assert [whole(box) for box in fleet.boxes] == [True, True]


def test_a_box_without_room_says_so_and_holds_up_no_other(fleet: Fleet) -> None:
    small, other = fleet.boxes
    other.ssh(f"rm -r {MODELS}/some")
    small.ssh(
        f"mount -t tmpfs -o size=200m,mode=0755 none {MODELS};"
        f" install -d -o interlude-model -g interlude -m 2750 {MODELS}/.fetch"
    )
    played = site(fleet, "--tags", "models", interlude_models=["some"])
    empty = small.ssh(f"find {MODELS} -type f -size +0").stdout
    small.ssh(f"umount {MODELS}")
    assert played.code != 0
    assert "There is no room for some: " in played.said
    assert empty == ""
    assert whole(other)


def test_a_model_that_a_seed_asked_for_is_brought_and_awaited_no_more(
    fleet: Fleet, hub: HubServer
) -> None:
    box = fleet.boxes[1]
    before = len(hub.gets)
    hub.statuses = [404] * 1000  # the box's own fetch has no luck
    box.ssh(f"rm -r {MODELS}/some; echo some >/etc/interlude/model-wanted")
    played = site(fleet, "--tags", "models", interlude_models=["some"])
    assert played.code == 0, played.said[-3000:]
    assert whole(box)
    assert len(hub.gets) == before
    gone = box.ssh("for i in $(seq 60); do [ -e /etc/interlude/model-wanted ] || exit 0;"
                   " sleep 1; done; exit 1")  # fmt: skip
    assert gone.returncode == 0


def test_an_unknown_model_is_named(fleet: Fleet) -> None:
    played = site(fleet, "--tags", "models", interlude_models=["sume"])
    assert played.code != 0
    assert "knows no sume" in played.said
