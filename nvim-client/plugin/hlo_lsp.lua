-- Detects XLA dumps, starts the server for them, and shows code lenses and semantic tokens.
if vim.g.loaded_hlo_lsp or vim.fn.has('nvim-0.7') == 0 then
  return
end
vim.g.loaded_hlo_lsp = true

local group = vim.api.nvim_create_augroup('hlo_lsp', {})
local filetype = require('hlo_lsp.filetype')
local restart = require('hlo_lsp.restart')
local lenses = require('hlo_lsp.lenses')
local python_notes = require('hlo_lsp.python_notes')

local function autocmd(event, opts)
  vim.api.nvim_create_autocmd(event, vim.tbl_extend('error', { group = group }, opts))
end

if vim.fn.has('nvim-0.9') == 1 then -- the first with semantic tokens
  require('hlo_lsp.highlights').define()
  autocmd('ColorScheme', { callback = require('hlo_lsp.highlights').define })
end
require('hlo_lsp.lists').setup()
if vim.fn.has('nvim-0.10') == 1 then -- the first with the height of a text in a window
  require('hlo_lsp.hovers').setup(autocmd)
end

if vim.fn.has('nvim-0.8') == 1 then
  -- Patterns instead of extensions: if `detect` returns nil, Neovim applies its own rules.
  vim.filetype.add({
    pattern = {
      ['.*%.txt'] = filetype.detect,
      ['.*%.hlo'] = filetype.detect,
      ['.*%.log'] = filetype.detect_message,
      ['.*%.oom_top_memory_consuming_instructions'] = filetype.detect_message,
      ['.*tpu_comp_env%.txt'] = { 'xla_flags', { priority = 1 } },
      ['.*%.debug_options'] = 'xla_flags',
      ['.*%.flagfile'] = 'xla_flags',
    },
  })
else
  local function detect_in(patterns, detect)
    autocmd({ 'BufNewFile', 'BufRead' }, {
      pattern = patterns,
      callback = function(event)
        local found = detect(event.file, event.buf)
        if found then
          vim.bo[event.buf].filetype = found
        end
      end,
    })
  end
  detect_in({ '*.txt', '*.hlo' }, filetype.detect)
  detect_in({ '*tpu_comp_env.txt', '*.debug_options', '*.flagfile' }, function()
    return 'xla_flags'
  end)
  detect_in({ '*.log', '*.oom_top_memory_consuming_instructions' }, filetype.detect_message)
end

vim.api.nvim_create_user_command('HloSummary', function()
  require('hlo_lsp.summary').run()
end, { desc = 'Show the memory summary of this dump' })

vim.api.nvim_create_user_command('HloTimeline', function(command)
  require('hlo_lsp.summary').run_timeline(command.args)
end, { nargs = '?', desc = 'Show the occupied bytes of this dump over the schedule' })

vim.api.nvim_create_user_command('HloTimeSummary', function()
  require('hlo_lsp.summary').run_time()
end, { desc = 'Show where the time of this dump goes' })

vim.api.nvim_create_user_command('HloCost', 'HloTimeSummary', { desc = 'Show where the time of this dump goes' })

vim.api.nvim_create_user_command('HloHottest', function(command)
  require('hlo_lsp.times').list_hottest(command.bang)
end, { bang = true, desc = 'List the instructions, or with ! the Python lines and phases, with the most time' })

vim.api.nvim_create_user_command('HloLoadProfile', function(command)
  require('hlo_lsp.times').load_profile(command.args)
end, { nargs = 1, complete = 'file', desc = 'Load a profile of JAX' })

vim.api.nvim_create_user_command('HloModules', function(command)
  require('hlo_lsp.modules').run(command.args, command.bang)
end, { bang = true, nargs = '?', complete = 'dir', desc = 'List the compiles below a folder' })

for name, comparison in pairs({
  HloCompare = { 'BEFORE [AFTER]', 'compare', 'run', 'Compare two compiles, or all of two folders' },
  HloCompareProfiles = { 'BEFORE AFTER', 'summary', 'compare_profiles', 'Compare two profiles of JAX' },
}) do
  local arguments, module, run, description = unpack(comparison)
  local least = arguments:find('[', 1, true) and 1 or 2
  vim.api.nvim_create_user_command(name, function(command)
    if #command.fargs < least or #command.fargs > 2 then
      return vim.notify(('usage: :%s %s'):format(name, arguments), vim.log.levels.ERROR)
    end
    require('hlo_lsp.' .. module)[run](unpack(command.fargs))
  end, { nargs = '+', complete = 'file', desc = description })
end

vim.api.nvim_create_user_command('HloCompile', function(command)
  local compile = require('hlo_lsp.compile')
  if command.bang then
    compile.cancel()
  else
    compile.run(command.fargs)
  end
end, {
  bang = true,
  nargs = '*',
  complete = function(lead, line)
    return require('hlo_lsp.compile').complete(lead, line)
  end,
  desc = 'Compile the program of this text again, and compare; with !, end that',
})

for name, direction in pairs({ HloPreviousPass = 'previous', HloNextPass = 'next' }) do
  vim.api.nvim_create_user_command(name, function()
    require('hlo_lsp.passes').go(direction)
  end, { desc = ('Go to this instruction in the text of the %s pass'):format(direction) })
end

vim.api.nvim_create_user_command('HloBuffers', function()
  python_notes.list_buffers()
end, { desc = 'List the buffers that this Python line owns at the peak, or its instructions' })

local protos = { '*.hlo.pb', '*.hlo_proto.pb', '*.hlo_snapshot.pb' }
autocmd('BufReadCmd', {
  pattern = protos,
  callback = function(event)
    require('hlo_lsp.text').read(event.buf, event.file)
  end,
})
autocmd('BufWriteCmd', {
  pattern = protos,
  callback = function()
    error('hlo-lsp: the text of a proto cannot be written to it', 0)
  end,
})

autocmd({ 'BufEnter', 'BufWritePost' }, {
  pattern = '*.py',
  callback = function(event)
    python_notes.refresh(event.buf)
  end,
})

local embedded = require('hlo_lsp.embedded')

---Attach the server to the buffers of other languages that contain HLO.
local function attach_embedded(config, start)
  local function look(bufnr)
    if vim.api.nvim_buf_is_loaded(bufnr) then
      embedded.attach(bufnr, config(), start)
    end
  end
  autocmd('FileType', {
    pattern = embedded.filetypes,
    callback = function(event)
      look(event.buf)
    end,
  })
  autocmd('BufWritePost', {
    callback = function(event)
      look(event.buf)
    end,
  })
  return function()
    vim.tbl_map(look, vim.api.nvim_list_bufs())
  end
end

local function attached(client, bufnr)
  restart.attached(client)
  lenses.follow(client, bufnr)
  embedded.attached(bufnr)
  python_notes.refresh_all()
end

if vim.fn.has('nvim-0.8') == 1 then
  autocmd('LspAttach', {
    callback = function(event)
      local client = vim.lsp.get_client_by_id(event.data.client_id)
      if client and client.name == 'hlo_lsp' then
        attached(client, event.buf)
      end
    end,
  })
end

if vim.lsp.enable then
  vim.lsp.enable('hlo_lsp') -- first, because it detaches the server from other file types
  local look_again = attach_embedded(function()
    return vim.lsp.config.hlo_lsp
  end, function(bufnr)
    local config = vim.deepcopy(vim.lsp.config.hlo_lsp)
    config.root_dir = config.root_dir or vim.fs.root(bufnr, config.root_markers)
    vim.lsp.start(config, { bufnr = bufnr })
  end)
  restart.setup(function()
    vim.lsp.enable('hlo_lsp')
    look_again()
  end)
  if vim.v.vim_did_enter == 1 then
    look_again()
  end
  return
end

-- Before 0.11: one server for all dumps, with `vim.g.hlo_lsp` over the default configuration.
local data = dofile(vim.api.nvim_get_runtime_file('lsp/hlo_lsp.lua', false)[1])
local config = vim.tbl_deep_extend('force', data, vim.g.hlo_lsp or {})
local on_exit = config.on_exit
local client_id

config.name = 'hlo_lsp'
config.capabilities = vim.tbl_deep_extend(
  'force',
  vim.lsp.protocol.make_client_capabilities(),
  config.capabilities
)
config.on_exit = function(...)
  client_id = nil
  on_exit(...)
end
if vim.fn.has('nvim-0.8') == 0 then
  config.on_attach = attached -- LspAttach is new in 0.8
end

local function start(bufnr)
  client_id = client_id or vim.lsp.start_client(config)
  if client_id then
    vim.lsp.buf_attach_client(bufnr, client_id)
  end
end

autocmd('FileType', {
  pattern = config.filetypes,
  callback = function(event)
    start(event.buf)
  end,
})

local look_again = attach_embedded(function()
  return config
end, start)
restart.setup(function()
  look_again()
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.tbl_contains(config.filetypes, vim.bo[bufnr].filetype) then
      start(bufnr)
    end
  end
end)
