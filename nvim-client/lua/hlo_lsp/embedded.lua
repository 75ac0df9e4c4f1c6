-- Attaches the server to Python, C++, and Markdown buffers that contain HLO.
local M = {}

M.filetypes = { 'c', 'cpp', 'cuda', 'markdown', 'python' }

-- The first line of a module, or a fence with HLO; not the C++ class of the same name.
local HLO = vim.regex(
  [[\v<HloModule\s+\%?[A-Za-z0-9_.-]+\s*([,:]|$)|^\s*(`{3,}|\~{3,})\s*hlo>]]
)

local formatexpr_before = {} -- by buffer

local function is_enabled(config)
  local hlo = vim.tbl_get(config, 'settings', 'hlo')
  return not (type(hlo) == 'table' and hlo.embeddedHlo == false)
end

local function contains_hlo(bufnr)
  for line = 0, vim.api.nvim_buf_line_count(bufnr) - 1 do
    if HLO:match_line(bufnr, line) then
      return true
    end
  end
  return false
end

---Attach the server to a buffer if it contains HLO, unless a setting disables it.
---@param bufnr integer
---@param config table the configuration of the server
---@param start fun(bufnr: integer)
function M.attach(bufnr, config, start)
  local is_host = vim.tbl_contains(M.filetypes, vim.bo[bufnr].filetype)
  if not is_host or vim.bo[bufnr].buftype ~= '' or not is_enabled(config) then
    return
  end
  if contains_hlo(bufnr) then
    formatexpr_before[bufnr] = vim.bo[bufnr].formatexpr
    start(bufnr)
  end
end

---The server formats no text in these languages, so `gq` works as without it.
function M.attached(bufnr)
  if formatexpr_before[bufnr] then
    vim.bo[bufnr].formatexpr = formatexpr_before[bufnr]
    formatexpr_before[bufnr] = nil
  end
end

return M
