"""Reads the text dumps of XLA: HLO modules, buffer assignments, live ranges and memory reports."""

__version__ = "0.2.0"
