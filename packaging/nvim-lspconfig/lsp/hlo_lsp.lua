---@brief
---
--- @repository@
---
--- @description@.
---
--- Install it with `pip install hlo-lsp`. Neovim does not know the file types of dumps:
---
--- ```lua
--- vim.filetype.add({
---   extension = { hlo = 'hlo' },
---   pattern = {
---     ['.*_optimizations.*%-buffer%-assignment%.txt'] = 'xla_memory',
---     ['.*_optimizations.*%.txt'] = 'hlo',
---   },
--- })
--- ```
---
--- The repository contains a plugin that recognizes dumps by their content, and shows memory
--- summaries and lists of dumps.
---@type vim.lsp.Config
return {
  cmd = { 'hlo-lsp' },
  filetypes = { 'hlo', 'xla_memory', 'xla_thunks', 'xla_stdout', 'xla_oom', 'xla_flags' },
  root_markers = { 'hlo-lsp.toml', '.git' },
}
