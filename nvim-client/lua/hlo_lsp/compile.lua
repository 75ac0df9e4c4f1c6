-- Compiles the program of a text again, with changes, and compares.
local compare = require('hlo_lsp.compare')
local M = {}

local latest -- the function that ends the last compile

local CHIPS = { 'v2', 'v3', 'v4', 'v5e', 'v5p', 'v6e', 'tpu7x' }
local OPTIONS = { '--chip', '--topology', '--flag', '--donate', '--no-donate' }
local USAGE = 'usage: :HloCompile[!] [--chip CHIP] [--topology TOPOLOGY] [--flag NAME=VALUE]... [--donate [ARGUMENT...]] [--no-donate]'

--- Returns the changes that arguments as those of `hlo-lsp compile` state; nil if they are wrong.
local function changes_of(arguments)
  local changes, number = {}, 1
  local function value()
    number = number + 1
    return arguments[number]
  end
  while arguments[number] do
    local option = arguments[number]
    if option == '--no-donate' then
      changes.noDonate = true
    elseif option == '--chip' or option == '--topology' then
      changes[option:sub(3)] = value()
    elseif option == '--flag' then
      local name, setting = (value() or ''):match('^([^=]+)=(.*)$')
      if not name then
        return nil
      end
      changes.flags = changes.flags or vim.empty_dict()
      changes.flags[name] = setting
    elseif option == '--donate' then
      changes.donate = {}
      while arguments[number + 1] and arguments[number + 1]:sub(1, 2) ~= '--' do
        table.insert(changes.donate, value())
      end
    else
      return nil
    end
    number = number + 1
  end
  return changes
end

--- Shows a new dump: compared with the one before, or the summary of a lone one.
function M.show(client, before, after)
  if before == nil or before == vim.NIL then
    local context = { client_id = client.id, bufnr = 0 }
    return require('hlo_lsp.summary').show_of('hlo.server.summary', { after, 0 }, context)
  end
  compare.places(client, { uri = before, line = vim.NIL }, { uri = after, line = vim.NIL })
end

--- Ends the last compile.
function M.cancel()
  if latest then
    latest()
    latest = nil
    vim.notify('hlo-lsp: the compile was ended') -- Neovim ignores the answer to what it cancels
  end
end

--- Compiles a document with changes, or with none.
function M.compile(changes, uri)
  local client = require('hlo_lsp.client').find()
  if not client then
    return
  end
  local params = { uri = uri, changes = changes and next(changes) and changes or nil }
  vim.notify('hlo-lsp: compiling; :HloCompile! ends it')
  local stop
  local _, id = require('hlo_lsp.request')(client, 'hlo/compile', params, function(problem, found)
    if latest == stop then -- a later compile also ends this one
      latest = nil
    end
    if found and found ~= vim.NIL then
      M.show(client, found.before, found.after)
    elseif problem then
      vim.notify(problem.message, vim.log.levels.WARN)
    end
  end)
  stop = function()
    require('hlo_lsp.request').cancel(client, id)
  end
  latest = stop
end

--- Runs `:HloCompile`.
function M.run(arguments)
  local changes = changes_of(arguments)
  if changes then
    M.compile(changes, vim.uri_from_bufnr(0))
  else
    vim.notify(USAGE, vim.log.levels.ERROR)
  end
end

--- Returns what can follow in the command line.
function M.complete(lead, line)
  local option = line:match('(%-%-%w+)%s+%S*$')
  local choices = option == '--chip' and CHIPS or OPTIONS
  return vim.tbl_filter(function(choice)
    return vim.startswith(choice, lead)
  end, choices)
end

return M
