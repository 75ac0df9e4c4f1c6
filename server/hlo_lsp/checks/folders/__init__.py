"""Findings in the dumps of whole folders."""
