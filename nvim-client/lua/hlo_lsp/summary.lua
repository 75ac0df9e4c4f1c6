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

local function ask(client, arguments, bufnr)
  local params = { command = 'hlo.server.summary', arguments = arguments }
  request(client, 'workspace/executeCommand', params, function(problem, text)
    if text then
      show(text)
    else
      vim.notify(problem and problem.message or 'hlo-lsp: no summary')
    end
  end, bufnr)
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
  ask(client, { vim.uri_from_bufnr(bufnr), line }, bufnr)
end

--- Runs the client command `hlo.memorySummary`, whose arguments are a document and a line.
function M.show_of(client_id, arguments, bufnr)
  ask(vim.lsp.get_client_by_id(client_id), arguments, bufnr)
end

return M
