"""Floor 6: one file per LSP request. Each turns positions into questions, answers into protocol types."""
