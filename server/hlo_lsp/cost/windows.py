"""Windows of convolutions and reductions, and the number of their valid positions."""

import re
from dataclasses import dataclass
from functools import lru_cache
from math import gcd

_FIELD = re.compile(r"(?<!\w)(\w+)=(\S+)")
_MAX_WALKED_INDEXES = 1 << 20  # real dimensions are smaller; a damaged one must not take minutes
_LABELS = re.compile(r"([0-9a-z?]+)_([0-9a-z?]+)->([0-9a-z?]+)")


@dataclass(frozen=True, slots=True)
class WindowDimension:
    """A dimension of ``window={size=3 stride=2 pad=0_1 lhs_dilate=1 rhs_dilate=1}``."""

    size: int = 1
    stride: int = 1
    padding_low: int = 0
    padding_high: int = 0
    base_dilation: int = 1
    window_dilation: int = 1


@lru_cache(maxsize=1 << 10)
def parse_window(text: str) -> tuple[WindowDimension, ...]:
    """Return the dimensions of a window; none if the attribute is missing or not valid."""
    fields = dict(_FIELD.findall(text.strip("{}")))
    rank = len(fields.get("size", "").split("x")) if "size" in fields else 0
    try:
        sizes, strides, base, window = (
            _numbers(fields.get(name), rank)
            for name in ("size", "stride", "lhs_dilate", "rhs_dilate")
        )
        pads = fields.get("pad", "x".join(["0_0"] * rank)).split("x")
        pairs = [list(map(int, pad.split("_"))) for pad in pads]
        return tuple(
            WindowDimension(size, stride, low, high, lhs, rhs)
            for size, stride, (low, high), lhs, rhs in zip(
                sizes, strides, pairs, base, window, strict=True
            )
        )
    except (ValueError, TypeError):
        return ()


def _numbers(text: str | None, rank: int) -> list[int]:
    return [1] * rank if text is None else list(map(int, text.split("x")))


@dataclass(frozen=True, slots=True)
class ConvolutionLabels:
    """The letters of ``dim_labels=b01f_01io->b01f``: for each array, one for each dimension."""

    lhs: str
    rhs: str
    result: str

    @property
    def spatial(self) -> list[str]:
        """The digits of the spatial dimensions, in the order of the window."""
        return sorted(letter for letter in self.lhs if letter.isdigit())


@lru_cache(maxsize=1 << 10)
def parse_labels(text: str) -> ConvolutionLabels | None:
    """Return the labels of a convolution, or None."""
    match = _LABELS.match(text)
    return None if match is None else ConvolutionLabels(*match.groups())


@lru_cache(maxsize=1 << 10)
def valid_positions(one: WindowDimension, inputs: int, kernels: int, outputs: int) -> int:
    """Return the number of pairs of a kernel index and an output index that read an element.

    The other pairs read padding or a hole of the base dilation. The shorter of both dimensions is
    walked, and the pairs of each index are counted at once. If it is huge, all pairs count.

    Args:
        one: The dimension of the window.
        inputs: The size of this dimension of the input.
        kernels: That of the kernel.
        outputs: That of the result.
    """
    # The pair (kernel, output) reads position output * stride + kernel * dilation - padding.
    walks = (kernels, one.window_dilation), (outputs, one.stride)
    (walked, step), (counted, stride) = sorted(walks)
    if walked > _MAX_WALKED_INDEXES:
        return walked * counted
    last = (inputs - 1) * one.base_dilation
    return sum(
        _multiples(index * step - one.padding_low, stride, counted, last, one.base_dilation)
        for index in range(walked)
    )


def _multiples(start: int, stride: int, count: int, last: int, divisor: int) -> int:
    """Return how many of ``start + stride * i`` are multiples of ``divisor`` from 0 to ``last``.

    The indexes ``i`` are those below ``count``.
    """
    if stride < 1 or divisor < 1:
        return 0
    low, high = max(0, -(start // stride)), min(count - 1, (last - start) // stride)
    common = gcd(stride, divisor)
    if start % common or high < low:
        return 0
    period = divisor // common
    first = -(start // common) * pow(stride // common, -1, period) % period if period > 1 else 0
    return (high - first) // period - (low - 1 - first) // period
