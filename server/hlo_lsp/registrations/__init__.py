"""Floor 7: which function answers which message, one file for each group of messages."""
