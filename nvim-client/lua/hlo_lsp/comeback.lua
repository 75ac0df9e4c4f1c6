-- Starts the server again: after it has died, and by `:HloRestart`.
local M = {}

-- As Visual Studio Code does: who dies more often is left alone.
local MOST, WITHIN = 5, 180 -- times, seconds
local TERMINATED = 15 -- how Neovim itself ends a server

local deaths = {} -- when, in seconds
local has_answered = {} -- ids of clients; a server that never did will not the next time either
local wanted = false
local start

--- `callback` starts the server for all dumps that are open.
function M.setup(callback)
  start = callback
  vim.api.nvim_create_user_command('HloRestart', M.restart, { desc = 'Start hlo-lsp anew' })
end

function M.attached(client)
  has_answered[client.id] = true
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
  wanted = true
  for _, client in ipairs(running) do
    vim.lsp.stop_client(client.id, true)
  end
end

local function may_come_back(client_id)
  if not has_answered[client_id] then
    return false
  end
  local now = vim.loop.hrtime() / 1e9
  deaths = vim.tbl_filter(function(when)
    return now - when < WITHIN
  end, deaths)
  deaths[#deaths + 1] = now
  return #deaths <= MOST
end

--- For the client's `on_exit`.
function M.on_exit(code, signal, client_id)
  vim.schedule(function()
    if vim.v.exiting ~= vim.NIL or not start then
      return
    end
    local died = code ~= 0 or (signal ~= 0 and signal ~= TERMINATED)
    if wanted then
      wanted = false
      start()
    elseif died and may_come_back(client_id) then
      vim.notify('hlo-lsp ended unexpectedly and was started again', vim.log.levels.WARN)
      start()
    end
  end)
end

return M
