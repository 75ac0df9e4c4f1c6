--- Sends a request: `request(client, method, params, handler, bufnr)`, in every version of Neovim.
local M = {}

--- Cancels a request by its number, the second result of the request.
function M.cancel(client, id)
  if vim.fn.has('nvim-0.11') == 1 then
    return client:cancel_request(id)
  end
  return client.cancel_request(id)
end

return setmetatable(M, {
  __call = function(_, client, ...)
    if vim.fn.has('nvim-0.11') == 1 then
      return client:request(...)
    end
    return client.request(...)
  end,
})
