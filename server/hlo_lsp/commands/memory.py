"""How often Python looks for garbage."""

import gc


def collect_rarely() -> None:
    """Let most objects stay where they are.

    A dump is hundreds of thousands of small objects that all stay: looking through them for
    cycles at the default rate takes up to three quarters of the time of a long reply.
    """
    gc.set_threshold(400_000, 10, 5)
