"""llama.cpp's source is patched only where needed; a patch that does not apply ends the build."""

from __future__ import annotations

import re
import sys
import tarfile
from pathlib import Path

import pytest

from scripts import llama, llama_source
from scripts.llama_source import LLAMA_CPP, apply, digest, patches, unpack
from scripts.progress import Failed

ROOT = Path(__file__).parents[1]
BEFORE = "one\ntwo\n// TODO: leave three out\nthree\nfour\n"
AFTER = BEFORE.replace("three\nfour", "four")
PATCH = """leave three out

Upstream: https://example.org/pull/1
Needed-while: src/count.cpp: TODO: leave three out

--- a/src/count.cpp
+++ b/src/count.cpp
@@ -1,5 +1,4 @@
 one
 two
 // TODO: leave three out
-three
 four
"""


@pytest.fixture
def patch(tmp_path: Path) -> Path:
    (tmp_path / "patches").mkdir()
    path = tmp_path / "patches" / "three.patch"
    path.write_text(PATCH)
    return path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "llama.cpp/src").mkdir(parents=True)
    (tmp_path / "llama.cpp/src/count.cpp").write_text(BEFORE)
    return tmp_path / "llama.cpp"


@pytest.mark.process
def test_a_patch_is_applied_once(patch: Path, source: Path) -> None:
    assert apply(patch, source) == "applied"
    assert (source / "src/count.cpp").read_text() == AFTER
    assert apply(patch, source) == "already there"
    assert (source / "src/count.cpp").read_text() == AFTER
    assert [path.name for path in (source / "src").iterdir()] == ["count.cpp"]


@pytest.mark.process
def test_a_patch_is_skipped_if_llama_cpp_no_longer_needs_it(patch: Path, source: Path) -> None:
    upstream = "one\ntwo\nfour, and three left out by another way\n"
    (source / "src/count.cpp").write_text(upstream)
    assert apply(patch, source) == "not needed"
    assert (source / "src/count.cpp").read_text() == upstream


@pytest.mark.process
@pytest.mark.parametrize("text", [BEFORE.replace("two", "zwei"), None])
def test_a_needed_patch_that_does_not_apply_ends_the_build(
    patch: Path, source: Path, text: str | None
) -> None:
    file = source / "src/count.cpp"
    file.unlink() if text is None else file.write_text(text)
    with pytest.raises(Failed, match=r"does not fit .* If https://example.org/pull/1"):
        apply(patch, source)
    assert text is None or file.read_text() == text
    assert len(list((source / "src").iterdir())) == (text is not None)


@pytest.mark.process
def test_a_patch_without_a_needed_while_field_is_an_error(patch: Path, source: Path) -> None:
    patch.write_text(PATCH.replace("Needed-while", "Needed"))
    with pytest.raises(Failed, match="Needed-while: FILE: TEXT"):
        apply(patch, source)


@pytest.mark.parametrize("patch", patches(), ids=lambda patch: patch.name)
def test_each_of_our_patches_has_its_fields(patch: Path) -> None:
    fields = dict(re.findall(r"^([A-Z][a-z-]+): (.+)$", patch.read_text(), re.MULTILINE))
    assert fields["Upstream"].startswith("https://github.com/ggml-org/llama.cpp/")
    assert fields["Licence"].startswith("MIT, as llama.cpp")
    assert ROOT / fields["Applied-by"].split(",")[0] == Path(llama_source.__file__)
    for test in re.findall(r"tests/[\w/]+\.py", patch.read_text()):
        assert (ROOT / test).is_file()


@pytest.mark.process
def test_an_archive_is_unpacked_and_patched(
    patch: Path, source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (source / "models").mkdir()
    (source / "models/vocabulary.gguf").write_text("not read by any build")
    archive = tmp_path / "python-1.0.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(source, Path("python-1.0") / LLAMA_CPP)
    unpacked = unpack(archive, tmp_path / "unpacked", patch.parent)
    assert unpacked == tmp_path / "unpacked/python-1.0"
    assert (unpacked / LLAMA_CPP / "src/count.cpp").read_text() == AFTER
    assert not (unpacked / LLAMA_CPP / "models/vocabulary.gguf").exists()
    assert (unpacked / llama_source.CMAKE.name).read_bytes() == llama_source.CMAKE.read_bytes()
    assert "three.patch: applied" in capsys.readouterr().out


@pytest.mark.process
def test_a_wheel_built_with_other_patches_is_another_wheel(patch: Path) -> None:
    def key() -> str:
        lock = ROOT / "requirements-llama.lock"
        return llama.key(Path(sys.executable), lock, ("-DX=ON",), patch.parent)

    before = key(), digest(patch.parent)
    assert before == (key(), digest(patch.parent))
    patch.write_text(PATCH.replace("-three", "-four"))
    assert key() != before[0]
    assert digest(patch.parent) != before[1]
    patch.unlink()
    assert key() != before[0]
