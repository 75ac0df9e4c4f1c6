-- The configuration of the server for vim.lsp.config() and vim.lsp.enable().
-- Override any of it with vim.lsp.config('hlo_lsp', { ... }) in your own configuration.

-- Python imports from PYTHONPATH before any program runs, and relative paths in it begin at the
-- current folder, whose files can be those of somebody else.
local function absolute_python_path()
  local separator = vim.fn.has('win32') == 1 and ';' or ':'
  local paths = vim.split(vim.env.PYTHONPATH or '', separator, { plain = true })
  return table.concat(
    vim.tbl_filter(function(path)
      return path:match('^/') or path:match('^%a:[/\\]')
    end, paths),
    separator
  )
end

return {
  cmd = { 'hlo-lsp' },
  cmd_env = { PYTHONSAFEPATH = '1', PYTHONPATH = absolute_python_path() },
  filetypes = { 'hlo', 'xla_memory', 'xla_thunks', 'xla_stdout', 'xla_oom', 'xla_flags' },
  root_markers = { '.git' },
  init_options = {
    -- Neovim resolves every lens of a file in a request of its own; 15,000 of them would delay a
    -- hover.
    lensTexts = 'at once',
    commands = { 'hlo.showPlaces', 'hlo.memorySummary', 'hlo.timeSummary', 'hlo.compile', 'hlo.showCompiled' },
  },
  capabilities = {
    workspace = {
      -- Neovim supports versioned edits and file creation, but does not announce them.
      workspaceEdit = { documentChanges = true },
      diagnostics = { refreshSupport = true },
      codeLens = { refreshSupport = true },
    },
  },
  handlers = {
    ['hlo/sourceLinesChanged'] = function()
      require('hlo_lsp.python_notes').refresh_all()
    end,
    ['workspace/diagnostic/refresh'] = vim.lsp.handlers['workspace/diagnostic/refresh']
      or function(...)
        return require('hlo_lsp.diagnostics').on_refresh(...)
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
    ['hlo.memorySummary'] = function(command, context)
      require('hlo_lsp.summary').show_of('hlo.server.summary', command.arguments, context)
    end,
    ['hlo.timeSummary'] = function(command, context)
      require('hlo_lsp.summary').show_of('hlo.server.timeSummary', command.arguments, context)
    end,
    ['hlo.compile'] = function(command)
      require('hlo_lsp.compile').compile(command.arguments[2], command.arguments[1])
    end,
    ['hlo.showCompiled'] = function(command, context)
      local client = vim.lsp.get_client_by_id(context.client_id)
      require('hlo_lsp.compile').show(client, command.arguments[1], command.arguments[2])
    end,
  },
  on_exit = function(...)
    require('hlo_lsp.restart').on_exit(...)
  end,
}
