"""Every refusal that can reach a page has a sentence of its own in both languages.

The page's process raises errors itself and shows those of privileged units, which are passed on as
a key and values. MODULES lists the modules that raise them. The tests read their source: each error
names its sentence. Errors of lower layers have the sentence of their class (errors.py).
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance import errors
from appliance.errors import InterludeError
from appliance.language.catalogue import catalogue

ROOT = Path(__file__).parents[2] / "appliance"
# modules of the page's process, and of the checks that root repeats
MODULES = (
    "cli/requested_change.py", "cli/requested_look.py", "cli/requested_model.py",
    "models/model_request.py", "mqtt/broker_trial.py", "page/*.py", "provision/change_network.py",
    "provision/network_manager.py", "runtime/memory_reader.py", "settings/owner_settings.py",
    "settings/owner_text.py", "settings/settings_change.py", "settings/value_errors.py",
    "update/install_lock.py", "update/release/fleet_pull.py", "update/release/installer.py",
    "update/request.py", "update/stick_import.py", "update/system/request.py",
    "update/wait_until_idle.py",
)  # fmt: skip
KINDS = {
    name for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, InterludeError)
}  # fmt: skip
FILES = sorted(path for pattern in MODULES for path in ROOT.glob(pattern))


def calls(file: Path) -> Iterator[ast.Call]:
    for one in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(one, ast.Call):
            yield one


def created_errors(file: Path) -> Iterator[ast.Call]:
    """The calls that create an InterludeError."""
    for call in calls(file):
        if isinstance(call.func, ast.Name) and call.func.id in KINDS:
            yield call


def test_the_listed_modules_exist_and_raise_errors() -> None:
    assert len(KINDS) > 25
    assert all(list(ROOT.glob(pattern)) for pattern in MODULES)
    assert sum(len(list(created_errors(file))) for file in FILES) > 50


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_every_error_of_these_modules_names_its_sentence(file: Path) -> None:
    bare = [
        call.lineno for call in created_errors(file)
        if not any(word.arg in ("shown", None) for word in call.keywords)
    ]  # fmt: skip
    assert bare == []


@functools.cache
def keys_of_errors() -> frozenset[str]:
    """The page's sentences that the calls of ShownAs.of in all sources name."""
    named = set[str]()
    for file in ROOT.rglob("*.py"):
        if "ShownAs" not in file.read_text(encoding="utf-8"):  # quicker than parsing it
            continue
        for call in calls(file):
            if ast.unparse(call.func) == "ShownAs.of" and call.args:
                for one in ast.walk(call.args[0]):
                    if isinstance(one, ast.Constant) and isinstance(one.value, str):
                        named.add(one.value)
    return frozenset(name for name in named if name.startswith(("page-", "setup-page-")))


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_sentence_named_by_an_error_exists(language: str) -> None:
    assert len(keys_of_errors()) > 100
    assert keys_of_errors() - catalogue(language).messages.keys() == set()


@pytest.mark.parametrize(
    "file", sorted((ROOT / "page").glob("*.py")), ids=lambda file: str(file.name)
)
def test_no_page_shows_the_english_text_of_an_error(file: Path) -> None:
    """Except refusals.py, which knows the browser's language."""
    if file.name == "refusals.py":
        return
    source = file.read_text(encoding="utf-8")
    for words in ("str(error)", "error.problem", "error.remedy", "{error}"):
        assert words not in source, words
