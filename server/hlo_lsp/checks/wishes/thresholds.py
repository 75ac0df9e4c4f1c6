"""From when on advice is worth a word: `hlo.check.thresholds` in the settings."""

from dataclasses import dataclass

_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Names are those of the settings; what is said to be more or larger is so at least.

    padding_ratio: how many times its elements an array takes in memory.
    padding_bytes: how large such an array is, with padding.
    fragmentation_ratio: which part of a temp allocation is idle at its fullest step, from 0 to 1;
        more than that is told.
    fragmentation_bytes: how many bytes of it are; more than that is told.
    donation_bytes: how large all buffers of a program are that outputs could take.
    constant_bytes: how large a constant is.
    layout_copy_bytes: how much copies that are alike move, without padding.
    long_lived_bytes: how large a value is that is said to live long, with padding.
    long_lived_count: how many of the values are named that keep most bytes for most steps.
    duplicate_instructions: how many instructions computations have that are the same.
    transfer_bytes: how much one transfer moves between host and device, without padding.
    """

    padding_ratio: float = 2.0
    padding_bytes: int = _MIB
    fragmentation_ratio: float = 0.1
    fragmentation_bytes: int = _MIB
    donation_bytes: int = _MIB
    constant_bytes: int = _MIB
    layout_copy_bytes: int = _MIB
    long_lived_bytes: int = _MIB
    long_lived_count: int = 10
    duplicate_instructions: int = 10
    transfer_bytes: int = 1


DEFAULTS = Thresholds()
