-- Finds a running server, or starts one for commands that need no dump in the buffer.
local M = {}

local START_MILLISECONDS = 10000

--- Returns a client of this buffer, else any other, else a new one; nil with a message.
function M.find()
  local all = vim.lsp.get_clients or vim.lsp.get_active_clients
  local bufnr = vim.api.nvim_get_current_buf()
  local running = vim.tbl_filter(function(client)
    return client.name == 'hlo_lsp'
  end, all())
  for _, client in ipairs(running) do
    if vim.lsp.buf_is_attached(bufnr, client.id) then
      return client
    end
  end
  if running[1] or vim.fn.has('nvim-0.11') == 0 then
    if not running[1] then
      vim.notify('hlo-lsp is not running: open a dump first', vim.log.levels.WARN)
    end
    return running[1]
  end
  local id = vim.lsp.start(vim.lsp.config.hlo_lsp, { attach = false })
  local client = id and vim.lsp.get_client_by_id(id)
  if client then
    vim.wait(START_MILLISECONDS, function()
      return client.initialized
    end, 10)
  end
  return client
end

return M
