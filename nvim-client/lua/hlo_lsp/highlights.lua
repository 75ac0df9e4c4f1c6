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

function M.define()
  for name, target in pairs(LINKS) do
    vim.api.nvim_set_hl(0, name, { link = target, default = true })
  end
end

return M
