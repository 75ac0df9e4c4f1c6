"""Bytes of shapes, and what becomes of padding."""
