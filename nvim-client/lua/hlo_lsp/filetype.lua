-- Detects the file type of a dump by its first lines, because a dump folder has other `.txt` files
-- (compiler options, textprotos). A file named `.hlo` without known lines is module text.
local M = {}

-- Enough for comments before a hand-written `HloModule`, and for some output before a stdout dump.
local MAX_LINES = 60

-- A long log may come before an out-of-memory message.
local MAX_MESSAGE_LINES = 20000

-- The line that --xla_dump_to=- prints before each file; other output may precede it on the line.
local SECTION = '%*%*%* Begin .+ %*%*%*$'

local MEMORY = {
  '^BufferAssignment:',
  '^Used values:',
  '^HloLiveRange ',
  '^Memory Space: ',
  '^Allocations sorted by size',
  '^memory_space_allocation_entries',
}

local MODULE = {
  '^HloModule [%%%a_]',
  '^ENTRY %%?[%w_.%-]+ .*{$', -- a single computation, as XLA:GPU writes one for each Triton kernel
  '^%%[%w_.%-]+ %(.*%) %-> .*{$',
}

local THUNKS = {
  '^k%u%w+ *\t', -- up to jax 0.8
  '^k%u%w+ +%[source ',
  '^k%u%w+ +%[prev=%d',
}

-- What the server looks for in other texts: a log may come before the message.
local OUT_OF_MEMORY = {
  'Ran out of memory in memory space ',
  'Ran out of memory on %w+, the total memory ',
  'Program hbm requirement ',
  'Largest program allocations in hbm:',
  'Allocation %(size=%d+%) would exceed memory',
  'Out of memory while trying to allocate %d',
  'Out of memory allocating %d',
  'Out of host memory while trying to allocate %d',
  'Allocator %([%w_.:]+%) ran out of memory trying to allocate %d',
  'Scoped allocation with size %d',
  'Shared memory size limit exceeded',
  'Tensor memory size limit exceeded',
  'TPU TensorCore Hbm usage: %d',
  'legitimate user allocatable offset upper bound',
  'No viable logical replica count for the embedding table',
  'Not enough PA budget',
  'Could not allocate %d+ bytes in memory ',
  'cuMemAllocAsync failed to allocate %d',
  'Attempting to %w+ [%d.]+%w* at the bottom of memory',
  'Attempting to %w+ [%d.]+%w*%. That was not possible',
  'Failed to allocate request for %d',
  'failed to allocate [%d.]+%w* %(%d+ bytes%) from device',
  'failed to allocate %d+ bytes from device',
  'ailed to allocate [%d.]+%w* %(%d+ bytes%) of %w* ?host memory',
  'failed to alloc %d+ bytes on host',
  'failed to allocate host memory: HIP_ERROR_',
  'failed to allocate host memory: hipError',
  'unlikely to have enough memory%. Requires %d',
  'Entry Parameter Subshape: ',
  'XLA [Ll]abel: ',
  "Can't reduce memory use below ",
}

-- Each of these messages contains one of these words.
local WORDS = { 'emory', 'hbm', 'Hbm', 'lloc', 'possible', 'XLA ', 'Subshape', 'PA budget' }

local function any(patterns, line)
  for _, pattern in ipairs(patterns) do
    if line:find(pattern) then
      return true
    end
  end
  return false
end

-- Returns the first two lines that are neither blank nor a comment.
local function opening(lines)
  local found = {}
  for _, line in ipairs(lines) do
    if line:find('%S') and not line:find('^%s*//') then
      found[#found + 1] = line
      if #found == 2 then
        break
      end
    end
  end
  return found[1] or '', found[2] or ''
end

--- Returns the file type of the first lines of a text, or nil if it is not a dump.
function M.of(lines)
  for _, line in ipairs(lines) do
    if line:find(SECTION) then
      return 'xla_stdout'
    end
  end
  local first, second = opening(lines)
  if any(MEMORY, first) or (first:find('^Total bytes used: ') and any(MEMORY, second)) then
    return 'xla_memory'
  elseif any(MODULE, first) then
    return 'hlo'
  elseif any(THUNKS, (first:gsub('^%d%d%d+: ', ''))) then
    return 'xla_thunks'
  end
end

local function contains_message(lines)
  for _, line in ipairs(lines) do
    local may_match = false
    for _, word in ipairs(WORDS) do
      may_match = may_match or line:find(word, 1, true) ~= nil
    end
    if may_match and any(OUT_OF_MEMORY, line) then
      return true
    end
  end
  return false
end

local function of_buffer(bufnr)
  local found = M.of(vim.api.nvim_buf_get_lines(bufnr, 0, MAX_LINES, false))
  local function has_message()
    return contains_message(vim.api.nvim_buf_get_lines(bufnr, 0, MAX_MESSAGE_LINES, false))
  end
  return found or (has_message() and 'xla_oom' or nil)
end

--- Returns the file type of a buffer, or nil to apply Neovim's own rules.
function M.detect(path, bufnr)
  local found = bufnr and of_buffer(bufnr)
  return found or (path:find('%.hlo$') and 'hlo' or nil)
end

--- Returns the file type of a log with an out-of-memory message; other logs keep theirs.
function M.detect_message(_, bufnr)
  local found = bufnr and of_buffer(bufnr)
  return found == 'xla_oom' and found or nil
end

return M
