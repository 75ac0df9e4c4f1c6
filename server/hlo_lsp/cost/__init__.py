"""The cost of instructions: FLOPs, transcendental functions, bytes, and the least time they take.

The rules are those of ``HloCostAnalysis`` (hlo_cost_analysis.cc). ``formulas.py`` has the opcodes
with a formula of their own; for the others, ``opcodes.toml`` names a rule.
"""
