"""Models and voices on the page: which fit, and requests by a process without privileges."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from appliance.messages.commands import BoxStatus, SetVoice
from appliance.models import catalogue
from appliance.models.model_request import REQUEST, ModelRequest
from appliance.models.store import ModelStore
from appliance.page.on_models import rows
from appliance.runtime.handed_request import RequestOutcome, pop, tell
from appliance.settings import load
from tests.models.laid import lay
from tests.page.desk import Desk

MODELS = catalogue.load()


@pytest.fixture
def box(tmp_path: Path) -> Desk:
    """An appliance, where requests are handed over to root."""
    desk = Desk(tmp_path, handed=True)
    for folder in ("wanted", "changed", "models"):
        (tmp_path / folder).mkdir()
    desk.pair()
    return desk


def memory(desk: Desk, mib: int) -> None:
    proc = desk.box.places.machine / "proc"
    proc.mkdir(parents=True)
    (proc / "meminfo").write_text(f"MemTotal: {1024 * mib} kB\n")


def fetch_half(desk: Desk, name: str) -> None:
    store, model = ModelStore.of(desk.box.settings), MODELS[name]
    store.folder(model).mkdir(parents=True)
    with store.partial(model, next(iter(model.files.values()))).open("wb") as file:
        file.truncate((model.size or 0) // 2)


def requested(desk: Desk) -> ModelRequest | None:
    wanted = desk.box.model_changes.wanted
    return pop(REQUEST, ModelRequest, wanted.stat().st_uid, wanted)


def test_every_model_is_listed_with_size_and_licence(desk: Desk) -> None:
    desk.pair()
    page = desk.text("/own/models")
    for model in MODELS.values():
        assert model.name in page
        assert model.licence in page
    assert "3.1 GB" not in page, "the size includes the audio part"
    assert "4.1 GB" in page
    assert "espeak-ng" in page


def test_a_model_too_large_for_this_machine_is_marked(box: Desk) -> None:
    memory(box, 8062)
    lacks = {row.model.name: row.memory_gb for row in rows(box.box)}
    assert (lacks["gemma-4-e2b"], lacks["gemma-4-e4b"], lacks["ljspeech"]) == (0, 9, 0)
    assert "too little memory for it: a box with 9 GB" in box.text("/own/models")


def test_a_fetch_is_requested_only_with_the_licence_accepted(box: Desk) -> None:
    form = {"do": "fetch", "name": "ljspeech", "token": box.token}
    assert box.post("/own/models", form).status == 400
    assert requested(box) is None
    assert box.post("/own/models", form | {"licence": "on"}).status == 303
    assert "It is requested" in box.text("/own/models")
    asked = requested(box)
    assert asked is not None
    assert (asked.do, asked.name) == ("fetch", "ljspeech")
    tell(
        REQUEST,
        RequestOutcome(asked.id, "The request cannot be written."),
        box.box.model_changes.changed,
    )
    assert "The request cannot be written." in box.text("/own/models")
    assert "It is requested" not in box.text("/own/models")


def test_the_progress_of_a_fetch_is_shown_and_no_other_is_started_meanwhile(box: Desk) -> None:
    fetch_half(box, "gemma-4-e2b")
    assert "of it is here" in box.text("/own/models"), "the fetch was interrupted"
    box.box.places.model_request_file.write_text("gemma-4-e2b\n")
    page = box.text("/own/models")
    assert 'value="50"' in page or 'value="49"' in page
    assert 'name="licence"' not in page
    form = {"do": "fetch", "name": "ljspeech", "licence": "on", "token": box.token}
    reply = box.post("/own/models", form)
    assert (reply.status, b"fetched or removed already" in reply.body) == (400, True)
    assert requested(box) is None


@pytest.mark.parametrize(
    ("do", "name"), [("remove", "pocket"), ("fetch", "../x"), ("fetch", ""), ("run", "ljspeech"),
                     ("fetch", "x" * 5000), ("remove", "mimi")],
)  # fmt: skip
def test_an_invalid_request_is_not_written(box: Desk, do: str, name: str) -> None:
    form = {"do": do, "name": name, "licence": "on", "token": box.token}
    assert box.post("/own/models", form).status == 400
    assert requested(box) is None


def test_an_unpaired_browser_requests_nothing(box: Desk) -> None:
    form = {"do": "fetch", "name": "ljspeech", "licence": "on", "token": box.token}
    box.cookies.clear()
    assert box.post("/own/models", form).status == 403
    assert "gemma" not in box.text("/own/models")
    assert requested(box) is None


def test_a_development_clone_shows_the_command_and_requests_nothing(desk: Desk) -> None:
    desk.pair()
    page = desk.text("/own/models")
    assert "<code>interlude models fetch gemma-4-e2b</code>" in page
    assert 'name="licence"' not in page
    form = {"do": "fetch", "name": "ljspeech", "licence": "on", "token": desk.token}
    assert desk.post("/own/models", form).status == 400


def test_only_an_installed_model_can_be_chosen(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path, thinking={"model": "gemma-4-e2b"})
    (tmp_path / "settings.yaml").write_text("thinking: {model: gemma-4-e2b}  # mine\n")
    desk.pair()
    assert desk.post("/own/models/choose", {"name": "pocket", "token": desk.token}).status == 303
    assert load(desk.box.changes.owner.path).thinking.model == "pocket"
    assert "pocket answers after a restart" in desk.text("/own/models")
    for name in ("gemma-4-e4b", "ljspeech", "", "../x"):
        form = {"name": name, "token": desk.token}
        assert desk.post("/own/models/choose", form).status == 400
    assert load(desk.box.changes.owner.path).thinking.model == "pocket"


def test_the_voice_in_use_cannot_be_removed(box: Desk) -> None:
    """The settings file says `auto`; the voice was chosen since or is the best one installed."""
    store, voice = ModelStore.of(box.box.settings), MODELS["ljspeech"]
    lay(store, voice)
    form = {"do": "remove", "name": "ljspeech", "token": box.token}
    status = BoxStatus("open", False, 0.8, "ljspeech", "pocket", voices=("espeak", "ljspeech"))
    box.box.model.handle(status, box.now_s)
    assert 'name="do" value="remove"' not in box.text("/own/models")
    reply = box.post("/own/models", form)
    assert (reply.status, b"ljspeech is in use" in reply.body) == (400, True)
    assert requested(box) is None
    box.box.model.handle(msgspec.structs.replace(status, voice="espeak"), box.now_s)
    assert 'name="do" value="remove"' in box.text("/own/models")
    assert box.post("/own/models", form).status == 303
    assert requested(box) is not None


def test_an_available_voice_can_be_chosen_on_the_models_page(desk: Desk) -> None:
    desk.pair()
    form = {"do": "voice", "voice": "amy", "back": "/own/models", "token": desk.token}
    place = dict(desk.post("/do", form).headers)["Location"]
    assert place.startswith("/own/models?said=")
    assert "Voice set to amy." in desk.text(place)
    assert desk.sent == [SetVoice("amy")]
