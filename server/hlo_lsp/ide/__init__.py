"""Answers to the questions of editors, as plain data."""
