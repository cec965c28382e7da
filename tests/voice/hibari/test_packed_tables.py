"""The packed tables of words have the same values as hibari's own loader gives."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hibari import g2p
from hypothesis import given
from hypothesis import strategies as st

from appliance.errors import ModelError
from appliance.voice.hibari.packed_tables import JsonTable, load_pronunciations, load_tagger
from appliance.voice.hibari.reader import ASSETS, Reader, sentences

ROOT = Path(__file__).parents[3]
LEXICONS = ("lexicon_us_gold.json.gz", "lexicon_us_silver.json.gz")
FLAT = st.dictionaries(st.text(max_size=6), st.floats(allow_nan=False), max_size=3)


@pytest.mark.parametrize("name", LEXICONS)
@pytest.mark.long
def test_each_word_of_a_lexicon_has_hibaris_pronunciation(name: str) -> None:
    own, packed = g2p._load_json(name), load_pronunciations(ASSETS / name)
    assert len(packed) == len(own) > 90_000
    assert {word: packed.get(word) for word in own} == own
    assert packed.get("no such word") is packed.get("") is None


@pytest.mark.long
def test_the_tagger_has_hibaris_weight_for_each_feature() -> None:
    own, packed = g2p._load_json("tagger.json.gz"), load_tagger(ASSETS / "tagger.json.gz")
    weights = packed.pop("weights")
    assert len(weights) == len(own["weights"]) > 70_000
    assert {feature: weights.get(feature) for feature in own["weights"]} == own.pop("weights")
    assert packed == own


def with_new_words(texts: Iterable[str]) -> Iterator[str]:
    """Those texts that have a word that no earlier text has."""
    seen = set[str]()
    for text in texts:
        words = set(re.findall(r"[\w'’]+", text))
        if not words <= seen:
            seen |= words
            yield text


@pytest.mark.long
def test_hundreds_of_sentences_have_hibaris_phonemes() -> None:
    """Every eighth: the tables are compared as a whole above."""
    own, ours = g2p.G2P(oov=False), Reader()._g2p
    ours._oov = False  # its network is the same
    text = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "docs").rglob("*.md")))
    lines = text.split("\n")
    texts = list(
        with_new_words(line[begin:end] for line in lines for begin, end in sentences(line))
    )[::8]
    assert len(texts) > 300
    assert [text for text in texts if ours(text) != own(text)] == []


@given(st.dictionaries(st.text(), st.text() | FLAT), st.booleans(), st.text())
@pytest.mark.long
def test_any_table_of_strings_and_flat_objects_is_found_by_key(
    entries: dict[str, object], ascii_only: bool, other: str
) -> None:
    table = JsonTable(json.dumps(entries, ensure_ascii=ascii_only).encode("utf-8", "replace"))
    for key, value in entries.items():
        assert table.get(key) == value
    assert table.get(other) == entries.get(other)


@pytest.mark.parametrize(
    "text", [b"", b"[]", b'["a"]', b'{"a": [1, 2, 3]}', b'{"a": {"b": {"c": 1}}}', b'{"a": "b"']
)
def test_other_json_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match="no object"):
        JsonTable(text)


@pytest.mark.parametrize(
    "data",
    [b"", b"no gzip", gzip.compress(b"[]", mtime=0), gzip.compress(b'{"tags": ["NN"]}', mtime=0)],
)
def test_a_damaged_file_raises_an_error_with_a_remedy(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "table.json.gz"
    file.write_bytes(data)
    with pytest.raises(ModelError, match=r"cannot be used .* Install the package again"):
        load_tagger(file)
    with pytest.raises(ModelError, match="cannot be used"):
        load_pronunciations(tmp_path / "missing.gz")
