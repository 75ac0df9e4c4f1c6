"""Definitions, references, links, calls, and the outline."""
