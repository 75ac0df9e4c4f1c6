"""Advice on programs that use more memory or time than necessary."""
