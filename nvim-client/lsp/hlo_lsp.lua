-- How Neovim starts the server: data for vim.lsp.config() and vim.lsp.enable().
-- Override any of it with vim.lsp.config('hlo_lsp', { ... }) in your own configuration.
return {
  cmd = { 'hlo-lsp' },
  filetypes = { 'hlo', 'xla_memory', 'xla_thunks', 'xla_stdout' },
  root_markers = { '.git' },
  init_options = {
    -- Neovim asks for the text of every lens of a file at once, each in a request of its own;
    -- 15 000 of them would keep a hover waiting.
    lensTexts = 'at once',
    commands = { 'hlo.showPlaces' },
  },
  capabilities = {
    workspace = {
      -- Neovim can, and forgets to say so: it refuses edits of an old version of the text, and makes
      -- files.
      workspaceEdit = { documentChanges = true },
      diagnostics = { refreshSupport = true },
      codeLens = { refreshSupport = true },
    },
  },
  handlers = {
    ['workspace/diagnostic/refresh'] = vim.lsp.handlers['workspace/diagnostic/refresh']
      or function(...)
        return require('hlo_lsp.findings').on_refresh(...)
      end,
    ['workspace/codeLens/refresh'] = vim.lsp.handlers['workspace/codeLens/refresh']
      or function(...)
        return require('hlo_lsp.lenses').on_refresh(...)
      end,
  },
  commands = {
    ['hlo.showPlaces'] = function(...)
      require('hlo_lsp.places').show(...)
    end,
  },
  on_exit = function(...)
    require('hlo_lsp.comeback').on_exit(...)
  end,
}
