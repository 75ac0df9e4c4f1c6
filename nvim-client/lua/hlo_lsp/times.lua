-- Lists where the time of a program goes, and loads profiles.
local places = require('hlo_lsp.places')
local request = require('hlo_lsp.request')
local M = {}

local function failed(problem)
  vim.notify(problem and problem.message or 'hlo-lsp: no answer')
end

--- Lists the instructions, or the Python lines and then the phases, of this dump in the quickfix list,
--- the one with most time first.
function M.list_hottest(with_lines)
  local client = require('hlo_lsp.client').find()
  if not client then
    return
  end
  local bufnr = vim.api.nvim_get_current_buf()
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  local params = { uri = vim.uri_from_bufnr(bufnr), line = line }
  request(client, 'hlo/hottest', params, function(problem, found)
    if not found then
      return failed(problem)
    end
    places.list(found.title, with_lines and vim.list_extend(found.lines, found.phases) or found.instructions)
  end, bufnr)
end

--- Loads a profile, which then precedes others.
function M.load_profile(path)
  local client = require('hlo_lsp.client').find()
  if not client then
    return
  end
  local bufnr = vim.api.nvim_get_current_buf()
  local params = {
    command = 'hlo.server.loadProfile',
    arguments = { require('hlo_lsp.uri')(path), vim.uri_from_bufnr(bufnr) },
  }
  request(client, 'workspace/executeCommand', params, function(problem, text)
    if problem then
      return failed(problem)
    end
    vim.notify(text)
  end, bufnr)
end

return M
