"""Floor 6: one file per LSP request, from positions to questions and back to protocol types."""
