-- How Neovim starts the server: data for vim.lsp.config() and vim.lsp.enable().
-- Override any of it with vim.lsp.config('hlo_lsp', { ... }) in your own configuration.
return {
  cmd = { 'hlo-lsp' },
  filetypes = { 'hlo', 'xla_memory', 'xla_thunks', 'xla_stdout' },
  root_markers = { '.git' },
  -- Neovim asks for the text of every lens of a file at once, each in a request of its own;
  -- 15 000 of them would keep a hover waiting.
  init_options = { lensTexts = 'at once' },
}
