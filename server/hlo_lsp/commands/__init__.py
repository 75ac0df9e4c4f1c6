"""The commands of ``hlo-lsp``, each imported when it is run."""
