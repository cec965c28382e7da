"""Whether the box has been set up, by whatever means."""

from __future__ import annotations

import pytest

from appliance.provision.apply_seed import ProvisionTarget, apply, remove_provisioning
from appliance.provision.seed import Seed, WifiNetwork
from appliance.provision.setup_state import untouched
from tests.provision.seeds import KEY


def test_a_freshly_flashed_card_is_untouched(ground: ProvisionTarget) -> None:
    assert untouched(ground)
    # As the Ansible roles write it.
    (ground.root / "etc/interlude/settings.yaml").write_text("{}\n")
    assert untouched(ground)


@pytest.mark.parametrize(
    "seed",
    [
        Seed(wifi=WifiNetwork(b"Home", "correct horse")), Seed(hostname="kitchen"),
        Seed(keys=(KEY,)),
        Seed(mode="wake_word"), Seed(broker="homeassistant.local"), Seed(model="gemma-4-e2b"),
    ],
    ids=["Wi-Fi", "name", "key", "mode", "broker", "model"],
)  # fmt: skip
def test_a_seed_ends_the_untouched_state_and_a_reset_restores_it(
    ground: ProvisionTarget, seed: Seed
) -> None:
    apply(seed, ground)
    assert not untouched(ground)
    remove_provisioning(ground)
    assert untouched(ground)


def test_settings_that_cannot_be_read_count_as_set_up(ground: ProvisionTarget) -> None:
    (ground.root / "etc/interlude/settings.yaml").write_text("mode: [")
    assert not untouched(ground)
