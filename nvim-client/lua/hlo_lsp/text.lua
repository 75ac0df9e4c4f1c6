-- Shows a proto as the text that XLA prints for it, in a buffer that cannot be changed.
local M = {}

local function show(bufnr, lines)
  vim.bo[bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modified = false
  vim.bo[bufnr].modifiable = false
end

--- Reads a proto into its buffer, for the event BufReadCmd.
function M.read(bufnr, name)
  vim.bo[bufnr].swapfile = false
  local client = require('hlo_lsp.client').find()
  if not client then
    return
  end
  local params = { uri = vim.uri_from_fname(vim.fn.fnamemodify(name, ':p')) }
  require('hlo_lsp.request')(client, 'hlo/text', params, function(problem, found)
    if not vim.api.nvim_buf_is_valid(bufnr) then
      return
    end
    if not found then
      return vim.notify(problem and problem.message or 'hlo-lsp: no answer')
    end
    show(bufnr, vim.split(found.text, '\n', { plain = true, trimempty = true }))
    vim.bo[bufnr].filetype = 'xla_stdout'
  end)
end

return M
