-- What `try.py --headless` shows: one of each answer of the server, for the dump $HLO_LSP_TRY.
-- Neovim's exit status says whether all of them came: `cquit` with a reason, or 0.

local PATIENCE = 30000 -- milliseconds for the server to start, and for each answer
local LENSES_SHOWN = 6
local PLACES_TRIED = 20 -- for each kind of place

-- Where a name stands that is worth asking about, best first; the captured position is asked.
local PLACES = {
  '^ value: <%d+ ()', -- an allocation's value
  '^<%d+ ()', -- a used value
  '^    ()[%a_][%w_.%-]*{[%d,]*}:%d+%-%d+$', -- a live range
  '%%?()[%a_][%w_.%-]* = ', -- an instruction
  '^ *%d%d%d+: ()k%u%w+', -- a thunk
  '()%S',
}

local function out(text, ...)
  io.stdout:write(select('#', ...) > 0 and text:format(...) or text, '\n')
end

local function fail(text)
  out('FAILED: ' .. text)
  io.stdout:flush()
  vim.cmd('cquit 1')
end

-- The client, once the server has answered `initialize`. A server that died is not waited for.
local function open_dump()
  local ended
  vim.lsp.config('hlo_lsp', {
    on_exit = function(code)
      ended = code
    end,
  })
  vim.cmd.edit(vim.fn.fnameescape(vim.env.HLO_LSP_TRY))
  if not vim.list_contains(vim.lsp.config.hlo_lsp.filetypes, vim.bo.filetype) then
    fail(('this file is no dump of XLA; Neovim takes it for "%s"'):format(vim.bo.filetype))
  end
  local client
  vim.wait(PATIENCE, function()
    client = vim.lsp.get_clients({ bufnr = 0, name = 'hlo_lsp' })[1]
    return ended ~= nil or (client ~= nil and client.initialized == true)
  end, 20)
  if ended then
    fail(('the server ended with status %d; see %s'):format(ended, vim.lsp.get_log_path()))
  elseif not client then
    fail('no server attached to this file')
  end
  return client
end

local client = open_dump()

local function ask(method, params)
  local answer, problem = client:request_sync(method, params, PATIENCE, 0)
  if not answer then
    return fail(method .. ': ' .. tostring(problem))
  elseif answer.err then
    return fail(method .. ': ' .. vim.inspect(answer.err))
  end
  return answer.result
end

local function some(value)
  return value ~= nil and value ~= vim.NIL and not vim.tbl_isempty(value)
end

local document = vim.lsp.util.make_text_document_params(0)

-- The first place that has both a hover and a definition, else the first with a hover.
local function find_place()
  -- Values that share memory say more than the thread-local ones that come first.
  local first = math.max(vim.fn.search('preallocated-temp:', 'cnw'), 1)
  local lines = vim.api.nvim_buf_get_lines(0, first - 1, -1, false)
  local second_best
  for _, pattern in ipairs(PLACES) do
    local tried = 0
    for number, line in ipairs(lines) do
      local column = line:match(pattern)
      if column then
        tried = tried + 1
        local position = { line = first + number - 2, character = column - 1 }
        local params = { textDocument = document, position = position }
        local found = { position = position, line = line }
        found.hover = ask('textDocument/hover', params)
        found.definition = ask('textDocument/definition', params)
        if some(found.hover) and some(found.definition) then
          return found
        end
        second_best = second_best or (some(found.hover) and found)
        if tried == PLACES_TRIED then
          break
        end
      end
    end
  end
  return second_best or fail('no hover anywhere in this file')
end

local function show_definition(definition)
  local location = vim.islist(definition) and definition[1] or definition
  local range = location.range or location.targetSelectionRange
  local path = vim.uri_to_fname(location.uri or location.targetUri)
  local text = vim.fn.readfile(path, '', range.start.line + 1)[range.start.line + 1]
  out('%s:%d\n  %s', vim.fn.fnamemodify(path, ':t'), range.start.line + 1, text:sub(1, 120))
end

local function lens_title(lens)
  return (lens.command or ask('codeLens/resolve', lens).command).title
end

local info = client.server_info or { name = client.name }
out('Server: %s %s, file type %s', info.name, info.version or '', vim.bo.filetype)

local place = find_place()
out('\n--- hover on line %d: %s', place.position.line + 1, place.line:sub(1, 120))
local contents = place.hover.contents
out(type(contents) == 'table' and contents.value or contents)

-- A buffer assignment has all there is; other files may have nothing to jump to or no lenses.
local has_all = vim.fn.getline(1) == 'BufferAssignment:'

out('\n--- definition')
if some(place.definition) then
  show_definition(place.definition)
elseif has_all then
  fail('no definition for any name in this file')
else
  out('none for any name in this file')
end

local lenses = ask('textDocument/codeLens', { textDocument = document })
out('\n--- code lenses: %d', #lenses)
if has_all and #lenses == 0 then
  fail('no code lenses, where each large value should have one')
end
for index = 1, math.min(LENSES_SHOWN, #lenses) do
  out('line %d: %s', lenses[index].range.start.line + 1, lens_title(lenses[index]))
end

local found = ask('textDocument/diagnostic', { textDocument = document }).items
out('\n--- diagnostics: %d', #found)
for _, diagnostic in ipairs(found) do
  out('line %d: %s: %s', diagnostic.range.start.line + 1, diagnostic.code, diagnostic.message)
end
io.stdout:flush()
vim.cmd('quitall!')
