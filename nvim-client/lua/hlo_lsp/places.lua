-- Lists the places of a code lens, such as the values in an allocation, or goes to the only one.
-- Lists the buffers of a Python line.
local lenses = require('hlo_lsp.lenses')
local request = require('hlo_lsp.request')
local M = {}

local TITLE = 'hlo-lsp: %s'

local function list(title, items)
  vim.fn.setqflist({}, ' ', { title = TITLE:format(title), items = items })
  vim.cmd('botright copen')
end

--- Goes to a location.
function M.go_to(location, encoding)
  vim.cmd("normal! m'") -- so that CTRL-O returns
  if vim.lsp.util.show_document then
    return vim.lsp.util.show_document(location, encoding, { focus = true })
  end
  return vim.lsp.util.jump_to_location(location, encoding)
end

local function show(title, locations, encoding)
  if #locations == 1 then
    return M.go_to(locations[1], encoding)
  end
  list(title, vim.lsp.util.locations_to_items(locations, encoding))
end

--- Lists entries (`name`, `text`, `location` or null) in their order, such as buffers with their sizes.
function M.list(title, entries)
  list(
    title,
    vim.tbl_map(function(entry)
      local item = { text = entry.name .. ' · ' .. entry.text }
      if type(entry.location) == 'table' then
        local start = entry.location.range.start
        item.filename = vim.uri_to_fname(entry.location.uri)
        item.lnum, item.col = start.line + 1, start.character + 1
      end
      return item
    end, entries)
  )
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
    lenses.refresh(client, context.bufnr) -- running a lens hides it
    local arguments = resolved and resolved.command.arguments
    if arguments then
      show(command.title, arguments[3], encoding)
    else
      vim.notify(problem and problem.message or 'hlo-lsp: these places no longer exist')
    end
  end
  request(client, 'codeLens/resolve', lens, found, context.bufnr)
end

return M
