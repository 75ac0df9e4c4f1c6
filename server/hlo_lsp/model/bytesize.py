"""Human-readable numbers of bytes."""

_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def format_bytes_as_xla(count: int) -> str:
    """Return bytes as XLA prints them: ``512B``, ``34.8KiB``, ``32.26MiB`` (tsl numbers.cc).

    XLA divides whole numbers by 1024 until the last step, so the second decimal is not rounded.
    """
    if count < 1024:
        return f"{count}B"
    unit = 0
    while count >= 1024 * 1024 and unit < len(_UNITS) - 1:
        count //= 1024
        unit += 1
    if count >= 1 << 62:  # only in damaged dumps
        return f"{count // 1024}{_UNITS[unit]}"
    return f"{count / 1024:.{2 if unit else 1}f}{_UNITS[unit]}"


def format_short_bytes(count: int) -> str:
    """Return bytes with a blank before the unit: ``4.00 MiB``."""
    text = format_bytes_as_xla(count)
    digits = text.rstrip("BKMGTPEi")
    return f"{digits} {text[len(digits) :]}"


def format_bytes(count: int) -> str:
    """Return bytes exactly and with a larger unit: ``4,194,304 B (4.00 MiB)``."""
    return f"{count:,} B" if count < 1024 else f"{count:,} B ({format_short_bytes(count)})"
