"""Tests for hlo_lsp.text.compression."""

import bz2
import gzip
import io
import lzma
import tracemalloc
from collections.abc import Callable

import pytest

from hlo_lsp.text import compression
from hlo_lsp.text.compression import ExpansionError, expanded, pieces

_FORMATS = [("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)]
_Compress = Callable[[bytes], bytes]


@pytest.mark.parametrize(("ending", "compress"), _FORMATS)
def test_far_larger_content_is_refused(
    ending: str, compress: _Compress, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = compress(bytes(48 << 20))
    monkeypatch.setattr(compression, "_MIN_REFUSED_BYTES", 1 << 20)
    tracemalloc.start()
    try:
        with pytest.raises(ExpansionError, match="times larger than the compressed data"):
            list(pieces(expanded(io.BytesIO(data), f"x.{ending}"), 1 << 30))
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("ending", "compress"), _FORMATS)
def test_ratio_alone_is_no_reason(ending: str, compress: _Compress) -> None:
    content = bytes(1 << 20)
    found = pieces(expanded(io.BytesIO(compress(content)), f"x.{ending}"), 1 << 30)
    assert b"".join(found) == content


def test_ratio_of_dumps_is_no_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "_MIN_REFUSED_BYTES", 1 << 10)
    content = b"".join(
        b"%d: %d, " % (number, number * number % 997) * 40 for number in range(20_000)
    )
    data = gzip.compress(content)
    assert len(content) > 60 * len(data)
    assert b"".join(pieces(expanded(io.BytesIO(data), "x.gz"), 1 << 30)) == content


def test_size_alone_is_a_reason() -> None:
    with pytest.raises(ExpansionError, match=r"the content is larger than 9.54e-07 GiB"):
        list(pieces(expanded(io.BytesIO(bytes(2000)), "x"), 1 << 10))
