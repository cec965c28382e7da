"""RemoteModel with a real llama-server and the pocket model: sound, thinking, refusals."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import numpy as np
import pytest

from appliance.errors import RemoteError
from appliance.messages.thinking import ThinkerReady
from appliance.settings import Settings, ThinkingSettings, load
from appliance.think.history import History, SpeechClip
from appliance.think.interface import AnswerMetrics
from appliance.think.remote import RemoteModel
from appliance.think.server_check import try_server
from appliance.think.server_dialect import OFF
from appliance.tools.table import TOOLS, Tool, available
from appliance.tools.tool_call_syntax import ToolCall
from image.test import model_server
from image.test.model_server import GEMMA_TEMPLATE, POCKET, running
from tests.think.rig import Rig
from training.pocket import grammar
from training.pocket.sound import rms
from training.pocket.speech import Voice, synthesise

pytestmark = pytest.mark.timeout(1500)  # the first test builds the server

WITH_AUDIO = ("--mmproj", str(POCKET / "pocket-audio.gguf"))
WITHIN_S = 60.0  # on a busy machine
MOON = "tell me about the moon"
# The start of an answer in Gemma's own template, in the version for the large models.
EMPTY_THOUGHT = """\
        {%- if not enable_thinking | default(false) -%}
            {{- '<|channel>thought\\n<channel|>' -}}
        {%- endif -%}
"""
# The pocket model was not trained to think: whatever follows this opening is taken as a thought.
BEGUN = "            {{- '<|channel>thought\\n' -}}\n"
THOUGHT = (
    "        {%- if enable_thinking | default(false) -%}\n" + BEGUN + "        {%- endif -%}\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The server and two templates: one thinks unless it is disabled, the other always."""
    program = model_server.built()
    here = tmp_path_factory.mktemp("server")
    shutil.copy(program / "llama-server", here)
    gemma = (program / GEMMA_TEMPLATE).read_text()
    assert gemma.count(EMPTY_THOUGHT) == 1
    (here / "thinks.jinja").write_text(gemma.replace(EMPTY_THOUGHT, THOUGHT))
    (here / "always.jinja").write_text(gemma.replace(EMPTY_THOUGHT, BEGUN))
    return here


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[str]:
    """The URL of a server that accepts sound, and thinks unless that is disabled."""
    with running(folder, *WITH_AUDIO) as url:
        yield url


def spoken(text: str, number: int = 0) -> SpeechClip:
    """The text in a voice that was held out of training."""
    quiet = np.zeros(4000, np.float32)
    clip = synthesise(text, Voice("en-us+f2", 165, 45))
    sound = np.concatenate([quiet, clip * (10 ** (-22 / 20) / rms(clip)), quiet])
    return SpeechClip(number, (sound * 32767).astype(np.int16))


def settings(url: str, **changes: Any) -> Settings:
    remote = {"url": url, "model": "pocket", "timeout_s": 20, **changes.pop("remote", {})}
    return load(
        Path("/dev/null"),
        {"thinking": {"remote": remote, "temperature": 0, "instruction": "", **changes}},
    )


def ask(
    url: str, *clips: SpeechClip, text: str = "", tools: tuple[Tool, ...] = TOOLS, **changes: Any
) -> tuple[list[Any], RemoteModel]:
    """The pieces of the answer, and the model that gave it."""
    thinking: ThinkingSettings = settings(url, **changes).thinking
    model = RemoteModel(thinking, tools)
    history = History()
    history.add_turn(1, clips, text)
    try:
        return list(filter(None, model.answer(history, AnswerMetrics()))), model
    finally:
        model.close()


def words(pieces: list[Any]) -> str:
    return "".join(piece for piece in pieces if isinstance(piece, str))


@pytest.mark.parametrize(
    ("request_", "name"),
    [(MOON, "moon"), ("wait, tell me about the sea instead", "sea"), ("tell me a joke", "joke")],
)
def test_what_is_said_aloud_is_understood_and_answered(
    server: str, request_: str, name: str
) -> None:
    pieces, model = ask(server, spoken(request_))
    assert words(pieces).split() == grammar.answers()[name].split()
    assert not model.thinks


def test_a_call_of_a_tool_arrives_as_one(server: str) -> None:
    assert ask(server, spoken("what time is it"))[0] == [ToolCall("time")]


def test_a_whole_thinker_process_answers_from_the_server(server: str, tmp_path: Path) -> None:
    """Without the tool `home`, which a box without a broker does not have, the pocket model leaves
    a long answer after some sentences, on some processors. So its first sentence shows that it
    understood, and the same request without the process shows that the process loses no word."""
    alone, _ = ask(server, spoken(MOON), tools=available(settings(server)))
    remote = {"url": server, "model": "pocket"}
    with Rig(tmp_path, remote=remote, temperature=0, instruction="") as rig:
        rig.until(lambda: rig.told(ThinkerReady), WITHIN_S)
        for turn, (request, name) in enumerate([(MOON, "moon"), ("tell me a joke", "joke")], 1):
            rig.say(turn, spoken(request).samples)
            rig.think(turn, turn)
            end = rig.end_of(turn, WITHIN_S)
            assert (end.reason, end.problem) == ("complete", "")
            expected = words(alone) if name == "moon" else grammar.answers()[name]
            assert rig.text_of(turn).split() == expected.split()
            assert rig.text_of(turn).startswith(grammar.answers()[name].partition(". ")[0])


def test_a_check_finds_a_server_that_takes_sound(server: str) -> None:
    found = try_server(settings(server))
    assert (found.verdict, "takes sound and does not think" in found.sentence) == ("ok", True)


def test_asked_to_write_down_what_was_said_the_pocket_model_says_that_it_cannot(
    server: str,
) -> None:
    """It was not trained for that; the test covers the request and the path of the text."""
    model = RemoteModel(settings(server).thinking)
    assert model.transcribe([spoken(MOON)]) == grammar.answers()["not_understood"]
    model.close()


def raw(url: str, **fields: Any) -> dict[str, Any]:
    """The message of a server's answer to a plain HTTP request, without RemoteModel."""
    asked = {"messages": [{"role": "user", "content": "tell me a joke"}], "temperature": 0}
    answer = httpx.post(f"{url}/chat/completions", json={**asked, **fields}, timeout=20)
    message: dict[str, Any] = answer.json()["choices"][0]["message"]
    return message


def test_left_alone_this_server_thinks_instead_of_answering(server: str) -> None:
    message = raw(server)
    assert message["reasoning_content"]
    assert not message["content"]


@pytest.mark.parametrize(
    ("field", "obeyed"),
    [("reasoning_effort", True), ("chat_template_kwargs", True), ("think", False)],
)
def test_the_fields_that_this_server_obeys(server: str, field: str, *, obeyed: bool) -> None:
    message = raw(server, **{field: OFF[field]})
    assert bool(message["content"]) is obeyed
    assert bool(message.get("reasoning_content")) is not obeyed


def test_asked_by_us_it_answers_what_was_said_aloud_without_thinking(server: str) -> None:
    pieces, model = ask(server, spoken(MOON))
    assert words(pieces).split() == grammar.answers()["moon"].split()
    assert not model.thinks


def test_one_that_thinks_whatever_it_is_told_is_named(folder: Path) -> None:
    with running(folder, *WITH_AUDIO, template="always.jinja") as url:
        with pytest.raises(RemoteError, match=r"thinks instead of answering.*thinking\.remote"):
            ask(url, text="tell me a joke")
        found = try_server(settings(url))
        assert (found.verdict, "thinks" in found.sentence) == ("problem", True)


def test_a_server_without_audio_input_is_named_with_a_remedy(folder: Path) -> None:
    with running(folder) as url:
        with pytest.raises(RemoteError, match="audio input is not supported") as caught:
            ask(url, spoken(MOON))
        assert "--mmproj" in caught.value.remedy
        assert caught.value.aloud == "server-without-audio"
        assert words(ask(url, text="tell me a joke")[0])  # typed text still works
        assert try_server(settings(url)).verdict == "problem"


def test_a_wrong_key_is_named(folder: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("right")
    key.chmod(0o600)
    with running(folder, "--api-key", "right") as url:
        with pytest.raises(RemoteError, match=r"HTTP 401.*thinking\.remote\.key_file"):
            ask(url, text="hi")
        assert words(ask(url, text="tell me a joke", remote={"key_file": str(key)})[0])


def test_a_conversation_that_is_too_long_for_it_is_named(folder: Path) -> None:
    with running(folder, *WITH_AUDIO, "-c", "256", "-np", "1") as url:
        with pytest.raises(RemoteError, match=r"HTTP 400.*thinking\.history_tokens"):
            ask(url, spoken(MOON), text="hello " * 400)
        model = RemoteModel(msgspec.structs.replace(settings(url).thinking, persona=""))
        history = History()
        history.add_turn(1, text="tell me a joke")
        assert words(list(model.answer(history, AnswerMetrics())))
        model.close()
