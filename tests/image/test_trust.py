"""Whom a card's box trusts: the keys that the build was given, and no other."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from appliance.update import signature
from image import build, roles
from image.build import signers_of
from image.plan import NotBuilt
from tests.update.release.workshop import Workshop

pytestmark = pytest.mark.process


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def test_a_public_key_or_a_file_of_allowed_signers_names_who_is_trusted(shop: Workshop) -> None:
    public = shop.key.with_suffix(".pub")
    text = signers_of(public)
    shop.signers.write_text(text)
    signature.verify(b"x", signature.sign(b"x", shop.key), shop.signers)
    assert signers_of(shop.signers) == text
    shop.signers.write_text(f"# least-signatures: 2\n{text}{public.read_text()}")
    assert signers_of(shop.signers) == f"# least-signatures: 2\n{text}"


@pytest.mark.parametrize("what", ["private", "none", "no key"])
def test_the_build_takes_no_private_key_and_needs_a_public_one(shop: Workshop, what: str) -> None:
    (shop.folder / "no key").write_text("ssh-ed25519\n")
    file = shop.key if what == "private" else shop.folder / what
    with pytest.raises(NotBuilt, match="is a private key" if what == "private" else "no public"):
        signers_of(file)


def test_the_throwaway_key_of_a_build_is_trusted_by_no_card(shop: Workshop, tmp_path: Path) -> None:
    root = tmp_path / "root"
    throwaway = shop.new_key("throwaway")
    trusted = root / "etc/interlude/allowed_signers"
    folders = [root / "opt/interlude" / name for name in ("releases/0.1.0", "voices/piper-0.1.0")]
    for folder in (trusted.parent, *folders):
        folder.mkdir(parents=True)
    trusted.write_text(signature.signers_text([throwaway.with_suffix(".pub").read_text().strip()]))
    for folder, name in zip(folders, ("release.json", "voice.json"), strict=True):
        (folder / name).write_text("{}")
        (folder / f"{name}.sig").write_bytes(signature.sign(b"{}", throwaway))
    roles.trust(root, signers_of(shop.key.with_suffix(".pub")))
    assert "throwaway" not in trusted.read_text()
    assert signature.public_keys(trusted.read_text()) == signature.public_keys(
        shop.key.with_suffix(".pub").read_text()
    )
    assert sorted(path.name for path in root.rglob("*.json*")) == ["release.json", "voice.json"]


def test_a_build_sets_whom_the_card_trusts_after_its_roles_and_before_it_is_packed() -> None:
    source = inspect.getsource(build)
    calls = (
        "roles.apply(plan, tree,",
        "roles.trust(tree, plan.signers)",
        "slot.finish(plan, tree,",
    )
    places = [source.index(call) for call in calls]
    assert places == sorted(places)
