-- Restarts the server after a crash and on `:HloRestart`.
local M = {}

-- The same limits as in Visual Studio Code.
local MAX_RESTARTS, WITHIN_SECONDS = 5, 180
local SIGTERM = 15 -- Neovim stops a server with this signal

local crash_times = {} -- in seconds
local has_attached = {} -- by client id; a server that never attached is not restarted
local restart_requested = false
local start

--- `callback` starts the server for all open dumps.
function M.setup(callback)
  start = callback
  vim.api.nvim_create_user_command('HloRestart', M.restart, { desc = 'Restart hlo-lsp' })
end

function M.attached(client)
  has_attached[client.id] = true
end

local function clients()
  return vim.tbl_filter(function(client)
    return client.name == 'hlo_lsp'
  end, vim.lsp.get_clients and vim.lsp.get_clients() or vim.lsp.get_active_clients())
end

function M.restart()
  local running = clients()
  if #running == 0 then
    return start()
  end
  restart_requested = true
  for _, client in ipairs(running) do
    vim.lsp.stop_client(client.id, true)
  end
end

local function can_restart(client_id)
  if not has_attached[client_id] then
    return false
  end
  local now = vim.loop.hrtime() / 1e9
  crash_times = vim.tbl_filter(function(when)
    return now - when < WITHIN_SECONDS
  end, crash_times)
  crash_times[#crash_times + 1] = now
  return #crash_times <= MAX_RESTARTS
end

--- For the client's `on_exit`.
function M.on_exit(code, signal, client_id)
  vim.schedule(function()
    if vim.v.exiting ~= vim.NIL or not start then
      return
    end
    local crashed = code ~= 0 or (signal ~= 0 and signal ~= SIGTERM)
    if restart_requested then
      restart_requested = false
      start()
    elseif crashed and can_restart(client_id) then
      vim.notify('hlo-lsp exited unexpectedly and was restarted', vim.log.levels.WARN)
      start()
    end
  end)
end

return M
