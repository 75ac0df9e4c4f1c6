-- Goes to the instruction under the cursor in the text of the previous or next pass.
local M = {}

--- Runs `:HloPreviousPass` and `:HloNextPass`; `direction` is `previous` or `next`.
function M.go(direction)
  local client = require('hlo_lsp.client').find()
  if not client then
    return
  end
  local bufnr = vim.api.nvim_get_current_buf()
  local position = vim.lsp.util.make_position_params(0, client.offset_encoding).position
  local params = { uri = vim.uri_from_bufnr(bufnr), position = position, direction = direction }
  require('hlo_lsp.request')(client, 'hlo/adjacentPass', params, function(problem, found)
    if not found then
      return vim.notify(problem and problem.message or 'hlo-lsp: no answer')
    end
    require('hlo_lsp.places').go_to(found.location, client.offset_encoding)
    vim.notify(type(found.message) == 'string' and found.message or found.label)
  end, bufnr)
end

return M
