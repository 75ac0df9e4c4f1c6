"""The commands of ``hlo-lsp``, one module each."""
