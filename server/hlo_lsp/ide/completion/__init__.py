"""Completion and signature help in module text."""
