"""Pathological inputs: the work of each request must not grow faster than n log n."""
