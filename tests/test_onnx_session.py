"""Opening the file of a network, and the errors of missing and damaged files."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import ModelError
from appliance.hear.bargein import network
from appliance.hear.onset import vad
from appliance.onnx_session import open_session


@pytest.mark.parametrize("model", [vad.MODEL, network.MODEL])
def test_a_shipped_network_runs_on_one_thread_without_spinning(model: Path) -> None:
    options = open_session(model, "the network").get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"
    assert not options.enable_cpu_mem_arena


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"gone\.onnx: the detector is missing"):
        open_session(tmp_path / "gone.onnx", "the detector")


@pytest.mark.parametrize("damage", [b"", b"no network", b"\x08\x07\x12" * 40])
def test_a_file_that_is_not_a_network_is_refused(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "bad.onnx").write_bytes(damage)
    with pytest.raises(ModelError, match=r"bad\.onnx: is not a usable network \(.+\)"):
        open_session(tmp_path / "bad.onnx", "the detector")


def test_a_network_of_the_wrong_kind_is_refused() -> None:
    with pytest.raises(ModelError, match="not Silero's"):
        vad.VoiceActivityDetector(network.MODEL)
    with pytest.raises(ModelError, match="not the verdict's"):
        network.VerdictNetwork(vad.MODEL)
