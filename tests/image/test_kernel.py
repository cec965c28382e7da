"""The kernel is unwrapped, because the Pi's firmware requires a plain image."""

from __future__ import annotations

import gzip

import pytest

from image.kernel import plain
from image.plan import NotBuilt

PLAIN = bytes(56) + b"ARM\x64" + bytes(200)


def wrapped(payload: bytes) -> bytes:
    """The format of an EFI zboot image: MZ, 0, "zimg", then offset and length of the payload."""
    head = b"MZ\0\0zimg" + (512).to_bytes(4, "little") + len(payload).to_bytes(4, "little")
    return head.ljust(512, b"\0") + payload + b"after"


@pytest.mark.parametrize(
    "kernel",
    [PLAIN, gzip.compress(PLAIN, mtime=0), wrapped(gzip.compress(PLAIN, mtime=0)), wrapped(PLAIN)],
)
def test_a_wrapped_kernel_is_unwrapped(kernel: bytes) -> None:
    assert plain(kernel) == PLAIN


@pytest.mark.parametrize(
    "kernel", [b"", b"MZ" + bytes(100), gzip.compress(b"no kernel" * 20, mtime=0)]
)
def test_data_without_a_kernel_is_refused(kernel: bytes) -> None:
    with pytest.raises(NotBuilt, match="compression is not supported"):
        plain(kernel)
