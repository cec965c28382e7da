"""The language model gives py3langid's results bit for bit and writes no copy to disk."""

from __future__ import annotations

import io
import lzma
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from py3langid import langid

from appliance.language.codes import base
from appliance.language.identify import DISTINGUISHED, LanguageIdentifier
from appliance.language.langid_model import read_model

FILE = langid.MODEL_DIR / langid.MODEL_FILE
SENTENCES = [
    line.partition("\t")[2]
    for line in (Path(__file__).parent / "short_sentences.txt").read_text("utf-8").splitlines()
]


@pytest.mark.long
def test_the_ranking_of_each_sentence_equals_py3langids_bit_for_bit() -> None:
    own = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
    own.set_languages([code for code in own.labels if base(code) in DISTINGUISHED])
    ours = LanguageIdentifier()
    ours.start()
    ours.wait()
    network: Any = ours._model
    texts = [*SENTENCES, "", "日本語です。", "Ήταν εδώ", "mixed Deutsch and English"]
    assert len(texts) > 240
    assert [network.rank(text) for text in texts] == [own.rank(text) for text in texts]


@pytest.mark.long
def test_reading_the_model_writes_no_temporary_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(OSError, match="nowhere"), tempfile.TemporaryFile():
        pass
    assert "de" in read_model(FILE, {"de", "en"}).classes


def archive(*, compressed: bool = False, **arrays: Any) -> bytes:
    data = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(data, **arrays)
    return lzma.compress(data.getvalue(), preset=0)


@pytest.mark.parametrize(
    "data",
    [b"", b"no archive", lzma.compress(b"no archive"), archive(ptc=np.zeros(3)),
     archive(compressed=True, ptc=np.zeros(3)), archive(ptc=np.zeros(99))[:-40]],
)  # fmt: skip
def test_a_file_that_is_not_a_model_is_refused(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "model.npz.xz"
    file.write_bytes(data)
    with pytest.raises((ValueError, EOFError, lzma.LZMAError)):
        read_model(file, DISTINGUISHED)
