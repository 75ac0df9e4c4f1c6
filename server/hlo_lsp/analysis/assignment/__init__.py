"""Allocations, and the values that lie in them."""
