"""The declarations of tools for local models and servers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import appliance.tools
from appliance.settings import Settings, load
from appliance.tools.table import TOOLS, Tool, ToolParameter, available, declaration, function


def settings(tmp_path: Path, text: str) -> Settings:
    file = tmp_path / "settings.yaml"
    file.write_text(text)
    return load(file)


def test_a_declaration_equals_the_output_of_gemmas_chat_template() -> None:
    weather = Tool(
        "weather",
        "Weather",
        (
            ToolParameter("unit", options=("c", "f")),
            ToolParameter("city", "City", needed=True),
            ToolParameter("days", kind="number"),
        ),
    )
    assert declaration(weather) == (
        '<|tool>declaration:weather{description:<|"|>Weather<|"|>,parameters:{properties:{'
        'city:{description:<|"|>City<|"|>,type:<|"|>STRING<|"|>},'
        'days:{type:<|"|>NUMBER<|"|>},'
        'unit:{enum:[<|"|>c<|"|>,<|"|>f<|"|>],type:<|"|>STRING<|"|>}},'
        'required:[<|"|>city<|"|>],type:<|"|>OBJECT<|"|>}}<tool|>'
    )
    assert declaration(Tool("time", "Tells the time.")) == (
        '<|tool>declaration:time{description:<|"|>Tells the time.<|"|>}<tool|>'
    )


def test_a_server_gets_the_same_tools_as_json_schema() -> None:
    timer = function(next(tool for tool in TOOLS if tool.name == "timer"))
    schema = timer["function"]["parameters"]
    assert schema["properties"]["minutes"] == {"type": "number"}
    assert schema["required"] == ["minutes"]


@pytest.mark.parametrize(
    ("text", "declared"),
    [
        ("", False),
        ("tools: {home: true}\n", False),
        ("link: {broker: here}\n", False),
        ("link: {broker: here}\ntools: {home: true}\n", True),
    ],
)
def test_the_house_tool_is_declared_only_if_the_owner_enabled_it(
    tmp_path: Path, text: str, declared: bool
) -> None:
    names = {tool.name for tool in available(settings(tmp_path, text))}
    assert ("home" in names) is declared
    assert names | {"home"} == {tool.name for tool in TOOLS}


def test_all_declarations_together_are_short(tmp_path: Path) -> None:
    declarations = "".join(map(declaration, TOOLS))
    words = re.sub(r"<[^>]*>|[^A-Za-z]", " ", declarations).split()
    assert len(words) < 200


def test_the_readme_lists_every_tool() -> None:
    page = (Path(appliance.tools.__file__).parent / "README.md").read_text()
    assert set(re.findall(r"^\| `(\w+)\{", page, re.MULTILINE)) == {tool.name for tool in TOOLS}
