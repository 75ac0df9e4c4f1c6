-- Recognises XLA's dumps, starts the server on them, and keeps its code lenses fresh.
if vim.g.loaded_hlo_lsp or vim.fn.has('nvim-0.7') == 0 then
  return
end
vim.g.loaded_hlo_lsp = true

local group = vim.api.nvim_create_augroup('hlo_lsp', {})
local filetype = require('hlo_lsp.filetype')

local function autocmd(event, opts)
  vim.api.nvim_create_autocmd(event, vim.tbl_extend('error', { group = group }, opts))
end

if vim.fn.has('nvim-0.8') == 1 then
  -- As patterns and not as extensions: where `detect` says nil, Neovim goes on to its own rules for
  -- the name, and every other text file stays what it was.
  vim.filetype.add({
    pattern = { ['.*%.txt'] = filetype.detect, ['.*%.hlo'] = filetype.detect },
  })
else
  autocmd({ 'BufNewFile', 'BufRead' }, {
    pattern = { '*.txt', '*.hlo' },
    callback = function(event)
      local found = filetype.detect(event.file, event.buf)
      if found then
        vim.bo[event.buf].filetype = found
      end
    end,
  })
end

-- Neovim asks for lenses only when told to. 0.12 does it by itself, once enabled.
local function follow_lenses(client, bufnr)
  if not client.server_capabilities.codeLensProvider then
    return
  end
  if vim.lsp.codelens.enable then
    vim.lsp.codelens.enable(true, { bufnr = bufnr })
    return
  end
  local function refresh()
    vim.lsp.codelens.refresh({ bufnr = bufnr })
  end
  vim.api.nvim_clear_autocmds({ group = group, buffer = bufnr })
  autocmd({ 'BufEnter', 'InsertLeave' }, { buffer = bufnr, callback = refresh })
  vim.api.nvim_buf_call(bufnr, refresh) -- up to 0.9 `refresh` knows only the current buffer
end

if vim.fn.has('nvim-0.8') == 1 then
  autocmd('LspAttach', {
    callback = function(event)
      local client = vim.lsp.get_client_by_id(event.data.client_id)
      if client and client.name == 'hlo_lsp' then
        follow_lenses(client, event.buf)
      end
    end,
  })
end

if vim.lsp.enable then
  vim.lsp.enable('hlo_lsp')
  return
end

-- Before 0.11: the same data and the user's `vim.g.hlo_lsp` over it, one server for all dumps.
local data = dofile(vim.api.nvim_get_runtime_file('lsp/hlo_lsp.lua', false)[1])
local config = vim.tbl_deep_extend('force', data, vim.g.hlo_lsp or {})
local client_id

config.name = 'hlo_lsp'
config.on_exit = function()
  client_id = nil
end
if vim.fn.has('nvim-0.8') == 0 then
  config.on_attach = follow_lenses -- there is no LspAttach yet
end

autocmd('FileType', {
  pattern = config.filetypes,
  callback = function(event)
    client_id = client_id or vim.lsp.start_client(config)
    if client_id then
      vim.lsp.buf_attach_client(event.buf, client_id)
    end
  end,
})
