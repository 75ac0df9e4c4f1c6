-- Shows the memory or time summary or the timeline of a compile, or two profiles compared, in a
-- scratch buffer.
local lenses = require('hlo_lsp.lenses')
local pages = require('hlo_lsp.pages')
local request = require('hlo_lsp.request')
local uri_of = require('hlo_lsp.uri')
local M = {}

local function show(page, encoding)
  local origin = vim.api.nvim_get_current_win()
  vim.cmd('botright new')
  local own = vim.api.nvim_get_current_win()
  pages.show(page, encoding, function()
    if not vim.api.nvim_win_is_valid(origin) then
      vim.api.nvim_set_current_win(own)
      vim.cmd('aboveleft new')
      origin = vim.api.nvim_get_current_win()
    end
    vim.api.nvim_set_current_win(origin)
  end)
end

local function ask(client, command, arguments, bufnr, on_answer)
  local params = { command = command, arguments = arguments }
  request(client, 'workspace/executeCommand', params, function(problem, page)
    if on_answer then
      on_answer()
    end
    if page then
      show(type(page) == 'table' and page or { text = page }, client.offset_encoding)
    else
      vim.notify(problem and problem.message or 'hlo-lsp: no answer')
    end
  end, bufnr)
end

--- Runs a command of the server for the current buffer and line, with more arguments.
local function run(command, ...)
  local bufnr = vim.api.nvim_get_current_buf()
  local clients = vim.lsp.get_clients or vim.lsp.get_active_clients
  local client = clients({ bufnr = bufnr, name = 'hlo_lsp' })[1]
  if not client then
    vim.notify('hlo-lsp is not attached to this buffer', vim.log.levels.WARN)
    return
  end
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  ask(client, command, { vim.uri_from_bufnr(bufnr), line, vim.o.columns, ... }, bufnr)
end

--- Runs `:HloSummary`.
function M.run()
  run('hlo.server.summary', true)
end

--- Runs `:HloTimeSummary`.
function M.run_time()
  run('hlo.server.timeSummary', true)
end

--- Runs `:HloCompareProfiles BEFORE AFTER`, with two files or folders.
function M.compare_profiles(before, after)
  local client = require('hlo_lsp.client').find()
  if client then
    local arguments = { uri_of(before), uri_of(after), vim.o.columns, true }
    ask(client, 'hlo.server.compareProfiles', arguments)
  end
end

--- Runs `:HloTimeline [step]`.
function M.run_timeline(step)
  run('hlo.server.timeline', tonumber(step) or vim.NIL)
end

--- Runs a command of the server for a lens, whose arguments are a document and a line.
function M.show_of(command, arguments, context)
  local client = vim.lsp.get_client_by_id(context.client_id)
  local uri, line = unpack(arguments)
  ask(client, command, { uri, line, vim.o.columns, true }, context.bufnr, function()
    lenses.refresh(client, context.bufnr) -- running a lens hides it
  end)
end

return M
