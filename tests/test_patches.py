"""No test replaces an attribute of our modules, and the search for such tests finds them."""

from __future__ import annotations

import pytest

from tests.patches import patches
from tests.programs import ROOT

TEST = """
import os
import appliance.errors
from appliance.hear import network
from appliance.think.llama_library import llama
from tests.waiting import until as wait, Words

def test_one(monkeypatch):
    {}
"""


@pytest.mark.parametrize(
    "line",
    [
        "monkeypatch.setattr(network, 'LIMIT_S', 0)",
        "monkeypatch.setattr('appliance.hear.network.LIMIT_S', 0)",
        "monkeypatch.setattr(appliance.errors.StorageError, 'exit_code', 0)",
        "monkeypatch.delattr(wait, 'limit')",
        "monkeypatch.setitem(network.ROWS['a'], 'b', 1)",
        "with pytest.MonkeyPatch.context() as other: other.setattr(network, 'LIMIT_S', 0)",
        "with mock.patch('appliance.hear.network.LIMIT_S', 0): pass",
        "with mock.patch.object(network, 'LIMIT_S', 0): pass",
        "network.LIMIT_S = 0",
        "network.ROWS['a'] = 0",
        "Words.limit += 1",
        "del network.LIMIT_S",
    ],
)
def test_a_replaced_attribute_of_ours_is_found(line: str) -> None:
    assert [found.partition(":")[0] for found in patches(TEST.format(line))] == ["9"]


@pytest.mark.parametrize(
    "line",
    [
        "monkeypatch.setattr(os, 'fsync', print)",
        "monkeypatch.setattr('os.fsync', print)",
        "monkeypatch.setenv('A', 'b')",
        "monkeypatch.setattr(llama, 'llama_decode', print)",
        "words = Words(); words.limit = 3",
        "network = Words(); network.limit = 3",
        "network = 3",
        "assert network.LIMIT_S == 0",
    ],
)
def test_attributes_of_others_and_of_the_tests_own_objects_are_not(line: str) -> None:
    assert patches(TEST.format(line)) == []


@pytest.mark.long
def test_no_test_replaces_an_attribute_of_ours() -> None:
    files = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "image/test").rglob("*.py")]
    found = {str(file.relative_to(ROOT)): patches(file.read_text()) for file in files}
    assert {file: lines for file, lines in found.items() if lines} == {}
