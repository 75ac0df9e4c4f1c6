"""Rules on the declared peak: its step, its list, and its stack traces."""
