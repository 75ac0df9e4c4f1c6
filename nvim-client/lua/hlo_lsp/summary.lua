-- Shows the memory summary of a compile in a scratch buffer.
local request = require('hlo_lsp.request')
local M = {}

local function show(text)
  vim.cmd('botright new')
  local lines = vim.split(text, '\n', { trimempty = true })
  vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile = 'nofile', 'wipe', false
  vim.bo.filetype = 'markdown'
  vim.bo.modifiable = false
end

--- Runs `:HloSummary` for the current buffer and line.
function M.run()
  local bufnr = vim.api.nvim_get_current_buf()
  local clients = vim.lsp.get_clients or vim.lsp.get_active_clients
  local client = clients({ bufnr = bufnr, name = 'hlo_lsp' })[1]
  if not client then
    vim.notify('hlo-lsp does not serve this buffer', vim.log.levels.WARN)
    return
  end
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  local params = {
    command = 'hlo.server.summary',
    arguments = { vim.uri_from_bufnr(bufnr), line },
  }
  request(client, 'workspace/executeCommand', params, function(problem, text)
    if text then
      show(text)
    else
      vim.notify(problem and problem.message or 'hlo-lsp: no summary')
    end
  end, bufnr)
end

return M
