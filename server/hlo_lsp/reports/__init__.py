"""Answers about a whole program, as data and as text."""
