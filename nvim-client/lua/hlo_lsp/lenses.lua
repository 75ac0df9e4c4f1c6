-- Keeps code lenses fresh. Neovim asks for them only when told to; 0.12 does by itself, once enabled.
local request = require('hlo_lsp.request')
local M = {}

local PAUSE = 300 -- milliseconds without a change before lenses come anew: there may be thousands

--- Asks for the lenses of a buffer and shows them. Not by `vim.lsp.codelens.refresh`, which does
--- nothing for ever once a server has died while it was asked.
function M.refresh(client, bufnr)
  if vim.lsp.codelens.enable or not vim.api.nvim_buf_is_loaded(bufnr) then
    return
  end
  local params = { textDocument = { uri = vim.uri_from_bufnr(bufnr) } }
  request(client, 'textDocument/codeLens', params, vim.lsp.codelens.on_codelens, bufnr)
end

--- For `workspace/codeLens/refresh`: another file of the compile has changed.
function M.on_refresh(_, _, context)
  local client = vim.lsp.get_client_by_id(context.client_id)
  for _, bufnr in ipairs(client and vim.lsp.get_buffers_by_client_id(client.id) or {}) do
    M.refresh(client, bufnr)
  end
  return vim.NIL
end

local function after_a_pause(action)
  local asked = 0
  return function()
    asked = asked + 1
    local number = asked
    vim.defer_fn(function()
      if number == asked then
        action()
      end
    end, PAUSE)
  end
end

--- Shows the lenses of a buffer from now on.
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
  on('TextChanged', after_a_pause(refresh))
  refresh()
end

return M
