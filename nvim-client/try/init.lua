-- The configuration that `try.py` starts Neovim with, and the smallest one that a user needs:
-- the first statement is all that the server asks for, the rest is comfort.
local here = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h')
vim.opt.runtimepath:prepend(here)

-- The program of the sample dump is in this checkout, so that its hovers link to Python lines.
local programs = vim.fn.fnamemodify(here, ':h') .. '/tools/corpus'
vim.lsp.config('hlo_lsp', { settings = { hlo = { sourceMap = { ['/home/user/models'] = programs } } } })

vim.opt.wrap = false -- lines of a dump can be 100 000 characters long
vim.opt.number = true
vim.opt.signcolumn = 'yes'
vim.opt.swapfile = false
vim.diagnostic.config({ virtual_text = true })

if vim.fn.exists('+winborder') == 1 then
  vim.o.winborder = 'rounded'
end
for _, group in ipairs({ 'LspCodeLens', 'LspInlayHint' }) do
  vim.api.nvim_set_hl(0, group, { link = 'Comment' }) -- without it they are hardly to be seen
end
if vim.lsp.inlay_hint then
  vim.lsp.inlay_hint.enable(true)
end
if vim.lsp.foldexpr then
  vim.o.foldmethod, vim.o.foldexpr, vim.o.foldlevelstart = 'expr', 'v:lua.vim.lsp.foldexpr()', 99
end

local KEYS = [[K hover | gd definition | gr references | gO symbols | \l click lens | \h hints | :qa quit]]

vim.api.nvim_create_autocmd('LspAttach', {
  callback = function(event)
    local function map(keys, action)
      vim.keymap.set('n', keys, action, { buffer = event.buf, nowait = true })
    end
    map('K', vim.lsp.buf.hover)
    map('gd', vim.lsp.buf.definition)
    map('gr', vim.lsp.buf.references)
    map('gO', vim.lsp.buf.document_symbol)
    map('\\l', vim.lsp.codelens.run)
    map('\\h', function()
      vim.lsp.inlay_hint.enable(not vim.lsp.inlay_hint.is_enabled())
    end)
    vim.wo[vim.fn.bufwinid(event.buf)].winbar = KEYS
  end,
})
