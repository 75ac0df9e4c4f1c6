"""Dumps as protocol buffers and in archives, converted to the text that XLA prints."""
