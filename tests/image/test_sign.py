"""Builds are signed afterwards, by a program that loads nothing but the standard library."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from appliance.errors import ReleaseRefused
from appliance.update import signature
from appliance.update.handed_over_file import HandedOverFile
from appliance.update.release.archive import RELEASE, ReleaseArchive
from appliance.update.release.pack import pack
from image.publish import sums
from scripts.sign import sign
from tests.update.release.workshop import MADE_S, Workshop

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


@pytest.fixture
def built(shop: Workshop) -> Path:
    """A release as `make release` leaves it, beside another file and a sheet of both."""
    tree, dist = shop.folder / "tree", shop.folder / "dist"
    for folder in (tree, dist):
        folder.mkdir()
    (tree / "a").write_text("a" * 5000)
    made = pack(tree, dist, version="0.2.0", machine="any", python="any", made_s=MADE_S)
    (dist / "card.img").write_text("card")
    sums([dist / "card.img", made], dist / "card.sha256")
    return made


def installs(shop: Workshop, archive: Path) -> bool:
    """Whether a box that trusts the workshop's key accepts the archive."""
    with HandedOverFile(archive, RELEASE.most_bytes) as source:
        try:
            ReleaseArchive(source, shop.signers).verify()
        except ReleaseRefused:
            return False
    return True


def test_a_build_without_a_signature_is_installed_nowhere_and_a_signed_one_is(
    shop: Workshop, built: Path
) -> None:
    assert not installs(shop, built)
    before = RELEASE.peek(built)
    assert sign([built.parent], shop.key) == [built, built.with_name("card.sha256")]
    assert installs(shop, built)
    assert RELEASE.peek(built) == before
    assert list(built.parent.glob(".*")) == []


def test_the_sheet_has_the_sums_of_the_signed_files_and_a_signature(
    shop: Workshop, built: Path
) -> None:
    sheet = built.with_name("card.sha256")
    sign([sheet], shop.key)
    assert installs(shop, built)
    done = subprocess.run(["sha256sum", "--check", "--quiet", sheet.name], cwd=sheet.parent,
                          check=False, capture_output=True)  # fmt: skip
    assert done.returncode == 0, done.stdout
    signed = sheet.with_name("card.sha256.sig").read_bytes()
    signature.verify(sheet.read_bytes(), signed, shop.signers)


def test_a_second_key_signs_behind_the_first_and_the_same_key_only_once(
    shop: Workshop, built: Path
) -> None:
    second = shop.new_key("second")
    for key in (shop.key, second, shop.key, second):
        sign([built], key)
    assert installs(shop, built)
    shop.trust(second)
    assert installs(shop, built)
    shop.trust(shop.new_key("third"))
    assert not installs(shop, built)
    with HandedOverFile(built, RELEASE.most_bytes) as source:
        shop.trust(second)
        assert len(signature.blocks(ReleaseArchive(source, shop.signers).signatures)) == 2


@pytest.mark.parametrize("what", ["card.img", "interlude-0.2.0-any.release"])
def test_nothing_is_signed_if_one_file_is_not_the_one_that_the_build_listed(
    shop: Workshop, built: Path, what: str
) -> None:
    with built.with_name(what).open("ab") as file:
        file.write(b"x")
    before = built.read_bytes()
    with pytest.raises(ReleaseRefused, match=f"{what} is not the file that card.sha256 lists"):
        sign([built.parent], shop.key)
    assert built.read_bytes() == before
    assert not built.with_name("card.sha256.sig").exists()


def test_a_sheet_that_names_a_file_elsewhere_is_refused(shop: Workshop, built: Path) -> None:
    built.with_name("card.sha256").write_text(f"{'0' * 64}  ../../secret.release\n")
    with pytest.raises(ReleaseRefused, match="no sheet of checksums"):
        sign([built.parent], shop.key)


def test_the_program_that_gets_the_key_runs_without_any_package(
    shop: Workshop, built: Path
) -> None:
    """-I -S: neither the environment nor site-packages; so a package would not even be found."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", ROOT / "scripts/sign.py", "--key", shop.key, built.parent],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert installs(shop, built)
    assert "scripts/sign.py" in (ROOT / "Makefile").read_text().partition("\nsign:")[2]


def test_make_sign_sets_nothing_up_and_no_other_verb_gets_the_key() -> None:
    """What set-up and builds install is other people's code, and runs when it is installed."""
    text = (ROOT / "Makefile").read_text()
    rules = {
        names.strip(): (needs.strip(), does)
        for names, needs, does in re.findall(
            r"^([\w% -]+):(?!=)([^=#\n]*)(?:##.*)?\n((?:\t.*\n)*)", text, re.MULTILINE
        )
    }
    needs, does = rules.pop("sign")
    assert needs == ""
    assert does.startswith("\t@$(PYTHON) -I -S scripts/sign.py --key ")
    assert does.count("\n") == 1
    assert "\nPYTHON ?= python3\n" in text  # not that of the environment
    assert {"release", "voices", "image", "setup-%"} < {*rules}
    assert [name for name, (_, does) in rules.items() if "KEY" in does] == []


def test_a_key_in_an_agent_signs_through_its_public_half(shop: Workshop, built: Path) -> None:
    """As one on a token does: the program never reads a private key."""
    agent = shop.folder / "agent"
    started = subprocess.Popen(["ssh-agent", "-D", "-a", agent], stdout=subprocess.DEVNULL)
    try:
        while not agent.exists():
            assert started.poll() is None
        known = {"PATH": "/usr/bin:/bin", "SSH_AUTH_SOCK": str(agent)}
        subprocess.run(["ssh-add", "-q", shop.key], env=known, check=True)
        shop.key.unlink()
        subprocess.run(
            [sys.executable, "-I", ROOT / "scripts/sign.py", "--key",
             shop.key.with_suffix(".pub"), built],
            env=known, check=True, capture_output=True,
        )  # fmt: skip
    finally:
        started.kill()
        started.wait()
    assert installs(shop, built)


@pytest.mark.parametrize("what", ["no key", "nothing to sign"])
def test_the_command_says_what_is_missing(shop: Workshop, tmp_path: Path, what: str) -> None:
    (tmp_path / "empty").mkdir()
    key = shop.folder / "none" if what == "no key" else shop.key
    done = subprocess.run(
        [sys.executable, "-I", ROOT / "scripts/sign.py", "--key", key, tmp_path / "empty"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert ("is no ssh key" if what == "no key" else "nothing to sign") in done.stderr
