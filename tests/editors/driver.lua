-- Runs the Lua script $HLO_TEST_SCRIPT of one test in Neovim, and writes its return value or its error
-- to the JSON file $HLO_TEST_RESULT. Without $HLO_TEST_SCRIPT, it runs the scripts whose paths it reads
-- from standard input, and writes each result beside its script. It supports Neovim 0.7 and 0.11; some
-- helpers need later versions.

-- Only a broken client or server takes this long.
local TIMEOUT_MILLISECONDS = 60000

local nvim = {}

--- Waits until `condition` returns a value, and returns the value.
function nvim.wait(what, condition)
  local value
  vim.wait(TIMEOUT_MILLISECONDS, function()
    value = condition()
    return value
  end, 10)
  return value or error('timed out: ' .. what, 2)
end

-- The number of completed requests by 'METHOD BUFFER'.
local answered = setmetatable({}, {
  __index = function()
    return 0
  end,
})
if vim.fn.exists('##LspRequest') == 1 then -- since 0.10
  vim.api.nvim_create_autocmd('LspRequest', {
    callback = function(event)
      local request = event.data.request
      if request.type == 'complete' then
        local key = request.method .. ' ' .. event.buf
        answered[key] = answered[key] + 1
      end
    end,
  })
end

--- Waits until the server has answered a method for this buffer at least `times` times.
function nvim.answered(method, times)
  local key = method .. ' ' .. vim.api.nvim_get_current_buf()
  nvim.wait(('answer %d to %s'):format(times or 1, key), function()
    return answered[key] >= (times or 1)
  end)
end

--- The clients of this buffer.
local function clients()
  if vim.lsp.get_clients then -- since 0.10
    return vim.lsp.get_clients({ bufnr = 0 })
  end
  return vim.lsp.buf_get_clients(0)
end

--- Opens a file as a user does and waits for the client.
function nvim.open(path)
  vim.cmd('edit ' .. vim.fn.fnameescape(path))
  return nvim.wait('a server for ' .. path, function()
    for _, client in pairs(clients()) do
      if client.name == 'hlo_lsp' and client.initialized then
        return client
      end
    end
  end)
end

--- Moves the cursor to the first occurrence of a text.
function nvim.cursor(text)
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  if vim.fn.search('\\V' .. vim.fn.escape(text, '\\'), 'cW') == 0 then
    error('the buffer does not contain ' .. text, 2)
  end
end

--- The text of the floating window that opens next.
function nvim.float()
  local window = nvim.wait('a floating window', function()
    for _, candidate in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(candidate).relative ~= '' then
        return candidate
      end
    end
  end)
  local buffer = vim.api.nvim_win_get_buf(window)
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
end

--- The items of a request of vim.lsp.buf that fills a list: file, line, and text.
function nvim.list(request, ...)
  local found
  local arguments = { ... }
  arguments[#arguments + 1] = {
    on_list = function(list)
      found = list.items
    end,
  }
  request(unpack(arguments, 1, select('#', ...) + 1))
  nvim.wait('a list', function()
    return found
  end)
  return vim.tbl_map(function(item)
    local path = item.filename or vim.api.nvim_buf_get_name(item.bufnr)
    return { vim.fn.fnamemodify(path, ':t'), item.lnum, item.text }
  end, found)
end

--- The code lenses by line number, once `count` lines have one.
function nvim.lenses(count)
  return nvim.wait(count .. ' lenses', function()
    local shown = nvim.lenses_now()
    return vim.tbl_count(shown) == count and shown
  end)
end

--- The code lenses by line number now, without those that are not resolved yet.
function nvim.lenses_now()
  local shown = {}
  for name, namespace in pairs(vim.api.nvim_get_namespaces()) do
    if name:find('codelens') then
      local marks = vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })
      for _, mark in ipairs(marks) do
        local text = vim.trim(mark[4].virt_lines[1][1][1])
        shown[tostring(mark[2] + 1)] = text ~= '…' and text or nil
      end
    end
  end
  return shown
end

--- The extmarks of namespaces with these words in their names, each with its line, the text of its
--- range, and its details. Neovim sets those of hints and tokens only on the screen.
function nvim.drawn(words)
  vim.cmd.redraw()
  local drawn = {}
  for name, namespace in pairs(vim.api.nvim_get_namespaces()) do
    if name:find(words, 1, true) then
      local marks = vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })
      for _, mark in ipairs(marks) do
        local row, column, details = mark[2], mark[3], mark[4]
        local text = ''
        if details.end_col then
          local last = details.end_row or row
          text = vim.api.nvim_buf_get_text(0, row, column, last, details.end_col, {})[1]
        end
        drawn[#drawn + 1] = { line = row + 1, column = column, text = text, details = details }
      end
    end
  end
  return drawn
end

local function run(script, path)
  local chunk = assert(loadfile(script))
  local fine, outcome = xpcall(chunk, debug.traceback, nvim)
  if outcome == nil then
    outcome = vim.NIL
  end
  local result = fine and { value = outcome } or { failure = outcome }
  vim.fn.writefile({ vim.json.encode(result) }, path .. '.part')
  vim.fn.rename(path .. '.part', path)
end

--- Closes what a script opened; settings of the user stay.
local function reset()
  vim.cmd('silent! tabonly! | silent! only!')
  vim.cmd('silent! %bwipeout!')
  vim.fn.setqflist({}, 'f')
end

local function serve()
  vim.fn.stdioopen({
    on_stdin = vim.schedule_wrap(function(_, lines)
      for _, script in ipairs(lines) do
        if script ~= '' then
          run(script, vim.fn.fnamemodify(script, ':h') .. '/result.json')
          reset()
        end
      end
    end),
  })
end

local function start()
  if vim.env.HLO_TEST_SCRIPT then
    run(vim.env.HLO_TEST_SCRIPT, vim.env.HLO_TEST_RESULT)
    vim.cmd('qall!')
  end
end

if not vim.env.HLO_TEST_SCRIPT then
  serve()
end
-- After Neovim has started, from its main loop.
vim.api.nvim_create_autocmd('VimEnter', { callback = vim.schedule_wrap(start) })
