-- Shows and refreshes code lenses, which Neovim does not do itself before 0.12.
local request = require('hlo_lsp.request')
local M = {}

local DEBOUNCE_MILLISECONDS = 300 -- a file may have thousands of lenses

local latest = {} -- lenses, by buffer

--- Returns the namespace from which Neovim removes the lenses of lines that change.
local function namespace_of(client_id)
  local name = 'codelens:' .. client_id
  for known, namespace in pairs(vim.api.nvim_get_namespaces()) do
    if known:sub(-#name) == name then
      return namespace
    end
  end
  return vim.api.nvim_create_namespace('nvim.lsp.' .. name)
end

--- Shows lenses above their lines: at the end of a long line they are off the screen. Neovim shows
--- nothing above the first line of a window, so the lens of line 1 is below it.
local function display(lenses, bufnr, client_id)
  local namespace = namespace_of(client_id)
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  local titles = {}
  for _, lens in ipairs(lenses) do
    local line = lens.range.start.line
    local before = titles[line] and titles[line] .. ' | ' or ''
    -- The text of a lens that is resolved later has its room at once, so that no line moves then.
    titles[line] = before .. (lens.command and lens.command.title or '…')
  end
  local count = vim.api.nvim_buf_line_count(bufnr)
  for line, title in pairs(titles) do
    if line < count then -- the text may have changed
      local text = vim.api.nvim_buf_get_lines(bufnr, line, line + 1, true)[1]
      vim.api.nvim_buf_set_extmark(bufnr, namespace, line, 0, {
        virt_lines = { { { text:match('^%s*') .. title, 'LspCodeLens' } } },
        virt_lines_above = line > 0,
      })
    end
  end
end

local function on_lenses(problem, lenses, context)
  local bufnr, client = context.bufnr, vim.lsp.get_client_by_id(context.client_id)
  if problem or not lenses or not client or not vim.api.nvim_buf_is_loaded(bufnr) then
    return
  end
  vim.lsp.codelens.save(lenses, bufnr, client.id)
  latest[bufnr] = lenses
  display(lenses, bufnr, client.id)
  for _, lens in ipairs(lenses) do
    if not lens.command then -- that of line 1
      request(client, 'codeLens/resolve', lens, function(_, resolved)
        if resolved and latest[bufnr] == lenses and vim.api.nvim_buf_is_loaded(bufnr) then
          lens.command = resolved.command
          display(lenses, bufnr, client.id)
        end
      end, bufnr)
    end
  end
end

--- Requests the lenses of a buffer and shows them. `vim.lsp.codelens.refresh` does nothing after a
--- server crashed during its request.
function M.refresh(client, bufnr)
  if vim.lsp.codelens.enable or not vim.api.nvim_buf_is_loaded(bufnr) then
    return
  end
  local params = { textDocument = { uri = vim.uri_from_bufnr(bufnr) } }
  request(client, 'textDocument/codeLens', params, on_lenses, bufnr)
end

--- Handles `workspace/codeLens/refresh`: another file of the compile has changed.
function M.on_refresh(_, _, context)
  local client = vim.lsp.get_client_by_id(context.client_id)
  for _, bufnr in ipairs(client and vim.lsp.get_buffers_by_client_id(client.id) or {}) do
    M.refresh(client, bufnr)
  end
  return vim.NIL
end

local function debounced(action)
  local count = 0
  return function()
    count = count + 1
    local number = count
    vim.defer_fn(function()
      if number == count then
        action()
      end
    end, DEBOUNCE_MILLISECONDS)
  end
end

--- Shows the lenses of a buffer and keeps them up to date.
function M.follow(client, bufnr)
  if not client.server_capabilities.codeLensProvider then
    return
  end
  if vim.lsp.codelens.enable then
    return vim.lsp.codelens.enable(true, { bufnr = bufnr })
  end
  local group = vim.api.nvim_create_augroup('hlo_lsp_lenses', { clear = false })
  local function refresh()
    if vim.lsp.get_client_by_id(client.id) then
      M.refresh(client, bufnr)
    end
  end
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = bufnr, callback = callback })
  end
  vim.api.nvim_clear_autocmds({ group = group, buffer = bufnr })
  on({ 'BufEnter', 'InsertLeave' }, refresh)
  on('TextChanged', debounced(refresh))
  refresh()
end

return M
