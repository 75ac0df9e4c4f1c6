-- Shows pages of text in scratch buffers. Rows with links lead to their places.
local M = {}

local namespace = vim.api.nvim_create_namespace('hlo_lsp_pages')
local KEYS = { '<CR>', 'gd', 'gf' }

--- Return the byte columns of a link in a line.
local function bytes_of(line, range, encoding)
  local function byte(character)
    if encoding == 'utf-8' then
      return math.min(character, #line)
    end
    local found = vim.fn.byteidx(line, character)
    return found < 0 and #line or found -- a character of two UTF-16 units counts once
  end
  return byte(range.start.character), byte(range['end'].character)
end

--- Return the link at or after the cursor in its row, or the last one of the row.
local function link_at_cursor(links)
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  local found
  for _, link in ipairs(links) do
    if link.row == row then
      found = link
      if column < link.stop then
        break
      end
    end
  end
  return found
end

local function follow(links, open)
  local link = link_at_cursor(links)
  if not link then
    return vim.notify('hlo-lsp: no link in this row')
  end
  local uri, line = link.target:match('^(.-)#L(%d+)$')
  open()
  vim.cmd("normal! m'") -- so that CTRL-O returns
  vim.cmd('edit ' .. vim.fn.fnameescape(vim.uri_to_fname(uri or link.target)))
  if line then
    pcall(vim.api.nvim_win_set_cursor, 0, { tonumber(line), 0 })
  end
end

--- Fills the buffer of the current window with a page: `text`, and `links` or nil.
--- `open` goes to the window for the place of a link.
function M.show(page, encoding, open)
  local bufnr = vim.api.nvim_get_current_buf()
  local lines = vim.split(page.text, '\n', { trimempty = true })
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile = 'nofile', 'wipe', false
  vim.bo.modifiable = false
  vim.wo.wrap, vim.wo.number, vim.wo.relativenumber = false, false, false
  vim.wo.signcolumn, vim.wo.foldcolumn = 'no', '0'
  local links = {}
  for _, link in ipairs(page.links or {}) do
    local row = link.range.start.line
    local start, stop = bytes_of(lines[row + 1], link.range, encoding)
    links[#links + 1] = { row = row + 1, stop = stop, target = link.target }
    local mark = { end_col = stop, hl_group = 'Underlined' }
    vim.api.nvim_buf_set_extmark(bufnr, namespace, row, start, mark)
  end
  if links[1] then
    for _, key in ipairs(KEYS) do
      vim.keymap.set('n', key, function()
        follow(links, open)
      end, { buffer = bufnr, nowait = true, desc = 'Go to the place of the link in this row' })
    end
  end
end

return M
