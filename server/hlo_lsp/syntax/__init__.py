"""Grammars, scanners and records: the syntax of single lines."""
