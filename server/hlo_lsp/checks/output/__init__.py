"""Findings for scripts, services, and readers of rules."""
