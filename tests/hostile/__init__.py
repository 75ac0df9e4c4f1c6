"""Tests with pathological, damaged, and malicious inputs."""
