"""Damage done on purpose to real dumps, and what the rules say of it.

Each code has kinds of damage (`Fault`) that strike at random places of a compile. `run.py` counts
how many were told, where, and with which code.
"""
