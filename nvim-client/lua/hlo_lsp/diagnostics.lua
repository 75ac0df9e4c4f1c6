-- Refreshes diagnostics that change without an edit: with a config file or another file of the
-- compile. Up to 0.11, Neovim pulls diagnostics but does not support refresh requests.
local request = require('hlo_lsp.request')
local M = {}

--- Pulls the diagnostics of all loaded buffers.
function M.refresh(client)
  for _, bufnr in ipairs(vim.lsp.get_buffers_by_client_id(client.id)) do
    if vim.api.nvim_buf_is_loaded(bufnr) then
      local params = { textDocument = { uri = vim.uri_from_bufnr(bufnr) } }
      request(client, 'textDocument/diagnostic', params, nil, bufnr)
    end
  end
end

--- Handles `workspace/diagnostic/refresh`.
function M.on_refresh(_, _, context)
  local client = vim.lsp.get_client_by_id(context.client_id)
  if client then
    M.refresh(client)
  end
  return vim.NIL
end

return M
