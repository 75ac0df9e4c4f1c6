-- Makes entries of quickfix and location lists that lead to dumps readable: names of files are short,
-- and `K` shows an entry in full. The default of `K` there is `:Man`, which finds no page for a value.
local M = {}

local TITLE = '^hlo%-lsp: '
local MAX_NAME = 26 -- characters

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

--- Returns the length of what all names begin with, up to a sign: all files of a compile have long names
--- with the same beginning.
local function common_length(names)
  local first = names[1]
  for length = #first, 1, -1 do
    local start = first:sub(1, length)
    local is_common = true
    for _, name in ipairs(names) do
      is_common = is_common and name:sub(1, length) == start and name:find('^[._-]', length + 1) ~= nil
    end
    if is_common then
      return length
    end
  end
  return 0
end

--- Returns the name to show for each buffer of a list: what differs between the names, at most its end.
local function short_names(items)
  local names, all = {}, {}
  for _, item in ipairs(items) do
    if item.bufnr > 0 and not names[item.bufnr] then
      -- With a sign at its end, as the name of one file can be the beginning of all others.
      names[item.bufnr] = vim.fn.fnamemodify(vim.fn.bufname(item.bufnr), ':t:r') .. '.'
      all[#all + 1] = names[item.bufnr]
    end
  end
  local common = #all > 1 and common_length(all) or 0
  for bufnr, name in pairs(names) do
    local rest = name:sub(common + 1):gsub('^[._-]+', ''):gsub('%.$', '')
    if rest == '' then
      rest = name:sub(1, common):match('[^.]*$')
    end
    names[bufnr] = #rest > MAX_NAME and '…' .. rest:sub(-MAX_NAME) or rest
  end
  return names
end

local function is_ours(list)
  return list.title:find(TITLE) or leads_to_dump(list.items)
end

--- Returns the lines of a list, as 'quickfixtextfunc'; none for other lists, which keep their form.
function M.lines(info)
  local what = { id = info.id, title = 1, items = 1 }
  local list = info.quickfix == 1 and vim.fn.getqflist(what) or vim.fn.getloclist(info.winid, what)
  if not is_ours(list) then
    return {}
  end
  local names = short_names(list.items)
  local lines = {}
  for index = info.start_idx, info.end_idx do
    local item = list.items[index]
    local place = item.lnum == 0 and '' or item.col == 0 and item.lnum or ('%d col %d'):format(item.lnum, item.col)
    local text = list.title:find(TITLE) and item.text or vim.trim(item.text) -- our lists are indented
    lines[#lines + 1] = ('%s|%s| %s'):format(names[item.bufnr] or '', place, text)
  end
  return lines
end

local function show_entry()
  local list = list_of(vim.api.nvim_get_current_win())
  local item = list.items[vim.fn.line('.')]
  if not item or not is_ours(list) then
    return vim.cmd('normal! K')
  end
  vim.lsp.util.open_floating_preview({ item.text }, '', { wrap = true, focus_id = 'hlo_lsp_entry' })
end

function M.setup()
  if vim.o.quickfixtextfunc == '' then -- unless the user shows lists in another way
    vim.o.quickfixtextfunc = "v:lua.require'hlo_lsp.lists'.lines"
  end
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
