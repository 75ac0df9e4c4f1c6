-- Lists the compiles below a folder in the quickfix list, those with the largest peak first.
local M = {}

local function item(uri, line, text)
  return { filename = vim.uri_to_fname(uri), lnum = line + 1, text = text }
end

local function items_of(module, compile, with_all)
  local text = ('%s · %s'):format(module.name, compile.text)
  if #module.compiles > 1 then
    text = ('%s · %s'):format(text, compile.title)
  end
  if type(compile.difference) == 'string' then
    text = ('%s · %s'):format(text, compile.difference)
  end
  local items = { item(compile.uri, compile.line, text) }
  if with_all then
    for _, file in ipairs(compile.files) do
      items[#items + 1] = item(file.uri, 0, '  ' .. file.label)
    end
    for _, buffer in ipairs(compile.buffers) do
      local start = buffer.location.range.start
      local row = item(buffer.location.uri, start.line, ('  %s · %s'):format(buffer.name, buffer.text))
      row.col = start.character + 1
      items[#items + 1] = row
    end
  end
  return items
end

--- Runs `:HloModules[!] [DIR]`; with `with_all`, also files and the largest buffers are listed.
function M.run(folder, with_all)
  local client = require('hlo_lsp.client').find()
  if not client then
    return
  end
  folder = vim.fn.fnamemodify(folder ~= '' and folder or '.', ':p'):gsub('(.)/$', '%1')
  local params = { folders = { vim.uri_from_fname(folder) } }
  require('hlo_lsp.request')(client, 'hlo/modules', params, function(problem, found)
    if not found then
      return vim.notify(problem and problem.message or 'hlo-lsp: no answer')
    end
    local items = {}
    for _, module in ipairs(found.modules) do
      for _, compile in ipairs(module.compiles) do
        vim.list_extend(items, items_of(module, compile, with_all))
      end
    end
    if #items == 0 then
      local hint = 'set XLA_FLAGS="--xla_dump_to=DIR --xla_dump_hlo_as_text"'
      return vim.notify(('hlo-lsp: no dumps below %s; %s'):format(folder, hint))
    end
    vim.fn.setqflist({}, ' ', { title = 'hlo-lsp: compiles below ' .. folder, items = items })
    vim.cmd('botright copen')
  end)
end

return M
