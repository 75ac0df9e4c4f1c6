"""Definitions, references, source links, the call hierarchy, and the outline."""
