"""The software sound card is built without a warning, and its C and Python sides agree on the
memory layout."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lab.sim import card_memory_layout as layout

pytestmark = pytest.mark.process

FOLDER = Path(__file__).parents[2] / "hw/simcard"


def test_make_turns_warnings_into_errors_and_builds() -> None:
    printed = subprocess.run(
        ["make", "-B", "-n", "-C", str(FOLDER)], check=True, capture_output=True, text=True
    ).stdout
    for flag in ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-DPIC"):
        assert flag in printed.split()


def test_no_installed_compiler_gives_a_warning() -> None:
    subprocess.run(["make", "-s", "-C", str(FOLDER), "check"], check=True)


def test_a_warning_fails_the_check(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "simcard", ignore=shutil.ignore_patterns("build"))
    with (tmp_path / "simcard/air.c").open("a") as file:
        file.write("int air_unused(int frames);\nint air_unused(int frames) { return 0; }\n")
    found = subprocess.run(
        ["make", "-s", "-C", str(tmp_path / "simcard"), "check"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert found.returncode != 0
    assert "unused" in found.stderr


def test_make_builds_the_library(simcard_library: Path) -> None:
    assert simcard_library.is_file()


def test_python_and_c_agree_on_the_layout(tmp_path: Path) -> None:
    rows = []
    for struct, dtype in (
        ("simcard", layout.LAYOUT),
        ("simcard_path", layout.PATH),
        ("simcard_event", layout.EVENT),
        ("simcard_near", layout.NEAR),
    ):
        assert dtype.fields is not None
        rows.append((f"sizeof(struct {struct})", dtype.itemsize))
        for name, (field, offset, *_) in dtype.fields.items():
            rows.append((f"offsetof(struct {struct}, {name})", offset))
            rows.append((f"sizeof(((struct {struct} *)0)->{name})", field.itemsize))
    rows += [
        ("SIMCARD_MAGIC", layout.MAGIC),
        ("SIMCARD_RING_FRAMES", layout.RING_FRAMES),
        ("SIMCARD_MAX_BUFFER_FRAMES", layout.MAX_BUFFER_FRAMES),
        ("SIMCARD_MAX_TAPS", layout.MAX_TAPS),
        ("SIMCARD_EVENTS", layout.EVENTS),
        ("SIMCARD_LAP(0)", 1),
        ("SIMCARD_LAP(65535LL * SIMCARD_RING_FRAMES - 1)", 65535),
        ("SIMCARD_LAP(65535LL * SIMCARD_RING_FRAMES)", 1),
    ]
    source = tmp_path / "layout.c"
    prints = "\n".join(f'printf("%llu\\n", (unsigned long long)({term}));' for term, _ in rows)
    source.write_text(
        '#include <stddef.h>\n#include <stdio.h>\n#include "simcard.h"\n'
        f"int main(void) {{ {prints} return 0; }}\n"
    )
    program = tmp_path / "layout"
    subprocess.run(["cc", f"-I{FOLDER}", "-o", str(program), str(source)], check=True)
    printed = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    values = dict(zip((term for term, _ in rows), map(int, printed.split()), strict=True))
    assert values == dict(rows)


def test_every_field_of_the_header_is_mirrored() -> None:
    """A field that is added only at the end of the C struct would not change the other offsets."""
    header = (FOLDER / "simcard.h").read_text()
    body = header[header.index("struct simcard {") :]
    body = body[: body.index("};")]
    fields = re.findall(r"(\w+)(?:\[\w+\])?;", re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL))
    assert tuple(fields) == layout.LAYOUT.names
