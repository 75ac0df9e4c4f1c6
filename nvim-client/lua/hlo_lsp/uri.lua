--- Returns the URI of a file or a folder that a user names.
return function(path)
  return vim.uri_from_fname((vim.fn.fnamemodify(path, ':p'):gsub('(.)/$', '%1')))
end
