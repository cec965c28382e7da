"""The tensors of a model have as many weights and bytes as the published files."""

from __future__ import annotations

import pytest

from lab.bench.model_shape import E2B, Format, Tensor, audio_tensors, bytes_of, text_tensors


# ── synthetic weights ────────────────────────────────────────────────────────────────────────
def test_the_full_size_matches_the_published_files() -> None:
    """Q4_K_M of E2B: 4.65 billion weights, 2.88 to 2.9 GiB; its audio part 586 MiB in F16."""
    numbers = sum(tensor.rows * tensor.shape[-1] for tensor in text_tensors(E2B))
    assert numbers == pytest.approx(4.65e9, rel=0.01)
    assert bytes_of(text_tensors(E2B)) / 2**30 == pytest.approx(2.89, abs=0.01)
    assert bytes_of(audio_tensors(E2B)) / 2**20 == pytest.approx(586, abs=1)


@pytest.mark.parametrize(
    ("format_", "numbers", "bytes_"), [("F32", 1, 4), ("F16", 1, 2), ("Q4_K", 256, 144)]
)
def test_a_row_has_the_bytes_of_its_blocks(format_: Format, numbers: int, bytes_: int) -> None:
    tensor = Tensor("x", (3, 5, 4 * numbers), format_)
    assert tensor.row_bytes == 4 * bytes_
    assert tensor.rows == 15
    assert bytes_of(iter([tensor, tensor])) == 2 * 15 * 4 * bytes_


def test_each_fifth_layer_has_full_attention_and_shared_layers_are_twice_as_wide() -> None:
    assert [layer for layer in range(E2B.layers) if not E2B.has_window(layer)] == [
        4, 9, 14, 19, 24, 29, 34,
    ]  # fmt: skip
    assert E2B.inner_of(14) * 2 == E2B.inner_of(15)


def test_tensor_names_in_a_file_are_unique() -> None:
    for tensors in (list(text_tensors(E2B)), list(audio_tensors(E2B))):
        assert len({tensor.name for tensor in tensors}) == len(tensors)
