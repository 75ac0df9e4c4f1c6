-- Lists the places of a code lens: the values in an allocation, or the uses of a value.
local lenses = require('hlo_lsp.lenses')
local request = require('hlo_lsp.request')
local M = {}

local TITLE = 'hlo-lsp: %s'

local function show(title, locations, encoding)
  local items = vim.lsp.util.locations_to_items(locations, encoding)
  vim.fn.setqflist({}, ' ', { title = TITLE:format(title), items = items })
  vim.cmd('botright copen')
end

--- Runs the client command `hlo.showPlaces`. Its arguments are a document, a position, and the places
--- or, for a lens that was sent with its text, the data to resolve them.
function M.show(command, context)
  local client = vim.lsp.get_client_by_id(context.client_id)
  local encoding = client.offset_encoding
  local _, start, places = unpack(command.arguments)
  if places[1] then
    return show(command.title, places, encoding)
  end
  local lens = { range = { start = start, ['end'] = start }, data = places }
  local function found(problem, resolved)
    local arguments = resolved and resolved.command.arguments
    if arguments then
      show(command.title, arguments[3], encoding)
    else
      vim.notify(problem and problem.message or 'hlo-lsp: these places no longer exist')
    end
    lenses.refresh(client, context.bufnr) -- running a lens hides it
  end
  request(client, 'codeLens/resolve', lens, found, context.bufnr)
end

return M
