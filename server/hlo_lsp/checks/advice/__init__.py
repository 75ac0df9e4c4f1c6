"""Advice: what costs memory or time without being wrong."""
