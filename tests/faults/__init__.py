"""Fault injection: deliberate damage to real dumps, and the findings of the rules.

Each rule code has several kinds of damage (`Fault`) that are injected at random lines of a compile.
`test_faults.py` counts how many are reported, on which line, and with which code.
"""
