"""Options of the checks: on the command line, in ``hlo-lsp.toml``, in an editor."""
