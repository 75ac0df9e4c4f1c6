"""What somebody wants to be checked: command line, ``hlo-lsp.toml``, settings."""
