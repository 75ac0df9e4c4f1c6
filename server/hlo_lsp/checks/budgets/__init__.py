"""Budgets: limits of a project for the memory and the instructions of its modules."""
