"""Budgets: limits of a project for the memory, the instructions, and the cost of its modules."""
