"""Inlay hints."""
