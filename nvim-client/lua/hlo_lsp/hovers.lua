-- Breaks the lines of hovers between words: Neovim breaks them at the edge of the window.
local M = {}

local HOVER = 'textDocument/hover' -- the variable of a window with a hover: the buffer it is about

--- Return whether a window shows a hover about a dump.
local function is_ours(window)
  local has_buffer, bufnr = pcall(vim.api.nvim_win_get_var, window, HOVER)
  if not has_buffer or not vim.api.nvim_buf_is_valid(bufnr) then
    return false
  end
  local clients = vim.lsp.get_clients({ bufnr = bufnr, name = 'hlo_lsp' })
  return clients[1] ~= nil
end

--- Grow a window to the height of its text, up to the last row of the screen.
local function grow(window)
  local top, height = vim.api.nvim_win_get_position(window)[1], vim.api.nvim_win_get_height(window)
  local rows = vim.o.lines - vim.o.cmdheight - 3 -- for the status line and two borders
  local wanted = math.min(vim.api.nvim_win_text_height(window, {}).all, rows - top)
  if wanted > height then
    vim.api.nvim_win_set_height(window, wanted)
  end
end

local function tidy()
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if is_ours(window) and not vim.wo[window].linebreak then
      vim.wo[window].linebreak = true
      grow(window)
    end
  end
end

--- Breaks lines between words in the hovers of this session.
function M.setup(autocmd)
  autocmd('WinNew', { callback = vim.schedule_wrap(tidy) })
end

return M
