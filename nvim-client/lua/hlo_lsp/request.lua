--- Sends a request: `request(client, method, params, handler, bufnr)`, in every version of Neovim.
return function(client, ...)
  if vim.fn.has('nvim-0.11') == 1 then
    return client:request(...)
  end
  return client.request(...)
end
