"""Computations and instructions: names, calls, the flow of data."""
