"""Local peaks of a curve of occupied bytes."""

from collections.abc import Iterable, Iterator


def local_peaks(curve: Iterable[tuple[int, int]], rise: int) -> Iterator[tuple[int, int]]:
    """Yield the peaks of a curve that rise far enough above the valleys on both sides.

    Args:
        curve: Steps in ascending order, each with the occupied bytes from this step on.
        rise: Minimum difference to the lowest point between two peaks, in bytes; at least 1.

    Yields:
        The first step of each peak, with its bytes.
    """
    valley = peak = peak_step = 0
    is_rising = True
    for step, size in curve:
        if is_rising:
            if size > peak:
                peak, peak_step = size, step
            elif size <= peak - rise:
                if peak - valley >= rise:
                    yield peak_step, peak
                is_rising, valley = False, size
        elif size < valley:
            valley = size
        elif size >= valley + rise:
            is_rising, peak, peak_step = True, size, step
    if is_rising and peak - valley >= rise:
        yield peak_step, peak
