-- Shows entries of quickfix and location lists that lead to dumps in full, with `K`. The default of
-- `K` there is `:Man`, which finds no page for a value.
local M = {}

local TITLE = '^hlo%-lsp: '

local function list_of(window)
  local what = { title = 1, items = 1 }
  if vim.fn.getwininfo(window)[1].loclist == 1 then
    return vim.fn.getloclist(window, what)
  end
  return vim.fn.getqflist(what)
end

--- Returns whether an entry of a list leads to a buffer that the server is attached to.
local function leads_to_dump(items)
  local attached = {}
  for _, client in ipairs((vim.lsp.get_clients or vim.lsp.get_active_clients)()) do
    for _, bufnr in ipairs(client.name == 'hlo_lsp' and vim.lsp.get_buffers_by_client_id(client.id) or {}) do
      attached[bufnr] = true
    end
  end
  for _, item in ipairs(items) do
    if attached[item.bufnr] then
      return true
    end
  end
  return false
end

local function show_entry()
  local list = list_of(vim.api.nvim_get_current_win())
  local item = list.items[vim.fn.line('.')]
  if not item or not (list.title:find(TITLE) or leads_to_dump(list.items)) then
    return vim.cmd('normal! K')
  end
  vim.lsp.util.open_floating_preview({ item.text }, '', { wrap = true, focus_id = 'hlo_lsp_entry' })
end

function M.setup()
  vim.api.nvim_create_autocmd('FileType', {
    group = vim.api.nvim_create_augroup('hlo_lsp_lists', {}),
    pattern = 'qf',
    callback = function(event)
      local options = { buffer = event.buf, desc = 'Show the entry in full' }
      vim.keymap.set('n', 'K', show_entry, options)
    end,
  })
end

return M
