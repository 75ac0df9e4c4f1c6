-- What driver.lua is for Neovim 0.11, for 0.7: the same helpers as far as the tests need them.

local PATIENCE = tonumber(vim.env.HLO_TEST_PATIENCE or 60000)

local nvim = {}

--- Waits until `condition` returns something, and returns that.
function nvim.wait(what, condition)
  local value
  vim.wait(PATIENCE, function()
    value = condition()
    return value
  end, 10)
  return value or error('waited in vain for ' .. what, 2)
end

--- Opens a file as a user does and waits for the client.
function nvim.open(path)
  vim.cmd('edit ' .. vim.fn.fnameescape(path))
  return nvim.wait('a server for ' .. path, function()
    for _, client in pairs(vim.lsp.buf_get_clients(0)) do
      if client.name == 'hlo_lsp' and client.initialized then
        return client
      end
    end
  end)
end

--- Puts the cursor where a text stands for the first time.
function nvim.cursor(text)
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  if vim.fn.search('\\V' .. vim.fn.escape(text, '\\'), 'cW') == 0 then
    error('the buffer does not hold ' .. text, 2)
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

--- The texts that are shown at the ends of lines, by line number.
function nvim.lenses()
  local shown = {}
  for name, namespace in pairs(vim.api.nvim_get_namespaces()) do
    if name:find('codelens') then
      local marks = vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })
      for _, mark in ipairs(marks) do
        shown[tostring(mark[2] + 1)] = mark[4].virt_text[1][1]
      end
    end
  end
  return shown
end

local function run()
  local chunk = assert(loadfile(vim.env.HLO_TEST_SCRIPT))
  local fine, outcome = xpcall(chunk, debug.traceback, nvim)
  if outcome == nil then
    outcome = vim.NIL
  end
  local result = fine and { value = outcome } or { failure = outcome }
  vim.fn.writefile({ vim.json.encode(result) }, vim.env.HLO_TEST_RESULT)
  vim.cmd('qall!')
end

vim.api.nvim_create_autocmd('VimEnter', { callback = vim.schedule_wrap(run) })
