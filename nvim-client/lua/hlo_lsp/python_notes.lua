-- Shows at the ends of Python lines what they own at the peak of a dumped program.
-- The server is asked about Python buffers, but does not attach to them.
local places = require('hlo_lsp.places')
local request = require('hlo_lsp.request')
local M = {}

local NAMESPACE = vim.api.nvim_create_namespace('hlo_lsp_python_notes')
local notes = {} -- by buffer: the notes in the order of the server, each with its extmark

local function running_client()
  local clients = vim.lsp.get_clients or vim.lsp.get_active_clients
  for _, client in ipairs(clients()) do
    if client.name == 'hlo_lsp' then
      return client
    end
  end
end

local function show(bufnr, found)
  vim.api.nvim_buf_clear_namespace(bufnr, NAMESPACE, 0, -1)
  notes[bufnr] = {}
  local texts, count = {}, vim.api.nvim_buf_line_count(bufnr)
  for _, note in ipairs(found) do
    if note.line < count then
      texts[note.line] = (texts[note.line] and texts[note.line] .. ' | ' or '') .. note.text
    end
  end
  for line, text in pairs(texts) do
    local mark = vim.api.nvim_buf_set_extmark(bufnr, NAMESPACE, line, 0, {
      virt_text = { { text, 'LspCodeLens' } },
    })
    notes[bufnr][mark] = vim.tbl_filter(function(note)
      return note.line == line
    end, found)
  end
end

--- Requests the notes of a Python buffer and shows them, if the server runs.
function M.refresh(bufnr)
  local client = running_client()
  local name = vim.api.nvim_buf_get_name(bufnr)
  if not client or name == '' or vim.bo[bufnr].buftype ~= '' then
    return
  end
  local tick = vim.api.nvim_buf_get_changedtick(bufnr)
  local function answered(problem, answer)
    if problem or not answer or not vim.api.nvim_buf_is_loaded(bufnr) then
      return
    end
    if vim.api.nvim_buf_get_changedtick(bufnr) ~= tick then
      return M.refresh(bufnr)
    end
    show(bufnr, answer.lines)
  end
  -- The server moves the lines with the edits since the compile.
  local text = table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), '\n')
  local params = { uri = vim.uri_from_bufnr(bufnr), text = text }
  request(client, 'hlo/sourceLines', params, answered, bufnr)
end

--- Refreshes all Python buffers, also as the handler of `hlo/sourceLinesChanged`.
function M.refresh_all()
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) and vim.bo[bufnr].filetype == 'python' then
      M.refresh(bufnr)
    end
  end
end

--- Lists the buffers of the current line in the quickfix list, the largest first.
function M.list_buffers()
  local bufnr = vim.api.nvim_get_current_buf()
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  local from, to = { line, 0 }, { line, -1 }
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(bufnr, NAMESPACE, from, to, {})) do
    for _, note in ipairs((notes[bufnr] or {})[mark[1]] or {}) do
      return places.list(note.text, note.buffers)
    end
  end
  vim.notify('hlo-lsp: this line owns no memory at the peak of a dump')
end

return M
