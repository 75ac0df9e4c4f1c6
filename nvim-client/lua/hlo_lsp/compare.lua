-- Compares two compiles, or all compiles of two folders: the answer on top, and the module texts of the
-- only pair that differs side by side below it.
local pages = require('hlo_lsp.pages')
local M = {}

local function scratch(name, text, filetype)
  local bufnr = vim.api.nvim_create_buf(true, true)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, vim.split(text, '\n', { trimempty = true }))
  vim.bo[bufnr].bufhidden = 'wipe'
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].filetype = filetype
  pcall(vim.api.nvim_buf_set_name, bufnr, name)
  return bufnr
end

--- Goes from a line of a compared text to the same line of the dump.
local function follow(text)
  vim.keymap.set('n', 'gd', function()
    local line = text.lines[vim.api.nvim_win_get_cursor(0)[1]]
    vim.cmd('tabedit ' .. vim.fn.fnameescape(vim.uri_to_fname(text.uri)))
    vim.api.nvim_win_set_cursor(0, { line + 1, 0 })
  end, { buffer = true, desc = 'Go to this instruction in the dump' })
end

local function show(found, encoding)
  vim.cmd('tabnew')
  pages.show(found.page, encoding, function()
    vim.cmd('tabnew')
    vim.bo.bufhidden = 'wipe'
  end)
  pcall(vim.api.nvim_buf_set_name, 0, 'hlo-compare answer')
  if type(found.texts) ~= 'table' then
    return
  end
  vim.cmd('belowright split')
  for number, side in ipairs({ 'before', 'after' }) do
    if number == 2 then
      vim.cmd('rightbelow vsplit')
    end
    local text = found.texts[number]
    -- No server: the names are not those of the dump.
    vim.api.nvim_win_set_buf(0, scratch('hlo-compare ' .. side, text.text, 'hlo_compare'))
    vim.cmd('diffthis')
    follow(text)
  end
end

--- Return what to compare: a file or a folder, or the compile at the cursor without a path.
local function place(path)
  if path then
    return { uri = require('hlo_lsp.uri')(path), line = vim.NIL } -- all compiles in it
  end
  return { uri = vim.uri_from_bufnr(0), line = vim.api.nvim_win_get_cursor(0)[1] - 1 }
end

--- Runs `:HloCompare BEFORE [AFTER]`, with files or folders of dumps; AFTER is this dump by default.
function M.run(before, after)
  local client = require('hlo_lsp.client').find()
  if not client then
    return
  end
  M.places(client, place(before), place(after))
end

--- Compares two places, each with a URI and a line.
function M.places(client, before, after)
  local params = { before = before, after = after, columns = vim.o.columns }
  require('hlo_lsp.request')(client, 'hlo/compare', params, function(problem, found)
    if found then
      show(found, client.offset_encoding)
    else
      vim.notify(problem and problem.message or 'hlo-lsp: no answer')
    end
  end)
end

return M
