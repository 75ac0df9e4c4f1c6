-- Links the server's semantic token types to standard groups. The links are defaults: a color
-- scheme or the user's `:highlight` takes precedence.
local M = {}

local LINKS = {
  ['@lsp.type.elementType'] = '@lsp.type.type',
  ['@lsp.type.opcode'] = '@lsp.type.function',
  ['@lsp.type.instruction'] = '@lsp.type.variable',
  ['@lsp.type.computation'] = '@lsp.type.class',
  ['@lsp.type.attribute'] = '@lsp.type.property',
  ['@lsp.type.memorySpace'] = '@lsp.type.enumMember',
  ['@lsp.type.tile'] = '@lsp.type.macro',
  -- Before 0.11, Neovim left these to syntax files; there is none for dumps.
  ['@lsp.type.number'] = 'Number',
  ['@lsp.type.string'] = 'String',
  ['@lsp.type.comment'] = 'Comment',
  -- Values without uses, and values without memory.
  ['@lsp.mod.unused'] = 'Comment',
  ['@lsp.mod.threadLocal'] = 'Comment',
}

-- Without true color, the groups of these two look like the text in Neovim's own color scheme, which
-- has no colors for them there.
local NOTES = { 'LspCodeLens', 'LspInlayHint' }
local DARK_GRAY = 8 -- as comments in most color schemes for 16 colors

function M.define()
  for _, name in ipairs(NOTES) do
    local found = vim.api.nvim_get_hl(0, { name = name, link = false })
    if not found.ctermfg and vim.tbl_isempty(found.cterm or {}) then
      vim.api.nvim_set_hl(0, name, vim.tbl_extend('force', found, { ctermfg = DARK_GRAY }))
    end
  end
  for name, target in pairs(LINKS) do
    vim.api.nvim_set_hl(0, name, { link = target, default = true })
  end
end

return M
