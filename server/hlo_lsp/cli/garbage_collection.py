"""The rate of the garbage collector in processes that read dumps."""

import gc


def reduce_gc_frequency() -> None:
    """Run the garbage collector less often.

    A dump is loaded into hundreds of thousands of small objects that stay alive. At the default
    rate, searching them for cycles takes up to three quarters of the time of a long request.
    """
    gc.set_threshold(400_000, 10, 5)
