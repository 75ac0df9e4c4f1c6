-- Refreshes code lenses, which Neovim does not do itself before 0.12.
local request = require('hlo_lsp.request')
local M = {}

local DEBOUNCE_MILLISECONDS = 300 -- a file may have thousands of lenses

--- Requests the lenses of a buffer and shows them. `vim.lsp.codelens.refresh` does nothing after a
--- server crashed during its request.
function M.refresh(client, bufnr)
  if vim.lsp.codelens.enable or not vim.api.nvim_buf_is_loaded(bufnr) then
    return
  end
  local params = { textDocument = { uri = vim.uri_from_bufnr(bufnr) } }
  request(client, 'textDocument/codeLens', params, vim.lsp.codelens.on_codelens, bufnr)
end

--- Handles `workspace/codeLens/refresh`: another file of the compile has changed.
function M.on_refresh(_, _, context)
  local client = vim.lsp.get_client_by_id(context.client_id)
  for _, bufnr in ipairs(client and vim.lsp.get_buffers_by_client_id(client.id) or {}) do
    M.refresh(client, bufnr)
  end
  return vim.NIL
end

local function debounced(action)
  local count = 0
  return function()
    count = count + 1
    local number = count
    vim.defer_fn(function()
      if number == count then
        action()
      end
    end, DEBOUNCE_MILLISECONDS)
  end
end

--- Shows the lenses of a buffer and keeps them up to date.
function M.follow(client, bufnr)
  if not client.server_capabilities.codeLensProvider then
    return
  end
  if vim.lsp.codelens.enable then
    return vim.lsp.codelens.enable(true, { bufnr = bufnr })
  end
  local group = vim.api.nvim_create_augroup('hlo_lsp_lenses', { clear = false })
  local function refresh()
    if vim.lsp.get_client_by_id(client.id) then
      M.refresh(client, bufnr)
    end
  end
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = bufnr, callback = callback })
  end
  vim.api.nvim_clear_autocmds({ group = group, buffer = bufnr })
  on({ 'BufEnter', 'InsertLeave' }, refresh)
  on('TextChanged', debounced(refresh))
  refresh()
end

return M
