"""Damage done on purpose to real dumps, and the findings of the rules.

Each code has kinds of damage (`Fault`) that inject at random places of a compile. `test_faults.py`
counts how many were reported, where, and with which code.
"""
