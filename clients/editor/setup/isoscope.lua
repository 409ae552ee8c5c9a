-- isoscope in Neovim, from 0.7 on. In init.lua:
--
--   dofile("/path/to/isoscope.lua").setup { launch = { { name = "server", program = "./server" } } }
--
-- Lenses stand behind functions, hot lines are diagnostics (hints). :Isoscope COMMAND WORDS... is workspace/executeCommand:
-- run, attach, window, compare, clear, openPage, status.
local M = {}

-- by the project's folder: the client
M.clients = {}

-- Neovim 0.7 asks never again once it has asked a server that is still starting.
local function refresh()
  for _, client in pairs(vim.lsp.buf_get_clients(0)) do
    if client.name == "isoscope" and client.initialized then vim.lsp.codelens.refresh() end
  end
end

-- The server tells that there is something new; Neovim itself does not listen to that.
vim.lsp.handlers["workspace/codeLens/refresh"] = function()
  refresh()
  return vim.NIL
end

local function capabilities()
  local all = vim.lsp.protocol.make_client_capabilities()
  all.workspace.codeLens = { refreshSupport = true }
  return all
end

function M.attach(buffer, options)
  local file = vim.api.nvim_buf_get_name(buffer)
  local found = vim.fn.finddir(".git", vim.fn.fnamemodify(file, ":h") .. ";")
  local root = options.root_dir or (found ~= "" and vim.fn.fnamemodify(found, ":p:h:h")) or vim.fn.fnamemodify(file, ":p:h")
  if not M.clients[root] then
    M.clients[root] = vim.lsp.start_client {
      name = "isoscope",
      cmd = options.cmd or { "isoscope", "lsp" },
      root_dir = root,
      workspace_folders = { { uri = vim.uri_from_fname(root), name = root } },
      capabilities = capabilities(),
      init_options = { launch = options.launch, sourceMap = options.source_map, source = options.source, hot = options.hot },
      on_init = function() vim.defer_fn(refresh, 0) end,
      on_exit = function() M.clients[root] = nil end,
    }
  end
  if M.clients[root] then vim.lsp.buf_attach_client(buffer, M.clients[root]) end
end

-- Calls back with what the server answered. words: a list.
function M.command(name, words, done)
  for _, id in pairs(M.clients) do
    local client = vim.lsp.get_client_by_id(id)
    local params = { command = "isoscope." .. name, arguments = words }
    client.request("workspace/executeCommand", params, function(err, result)
      if err then vim.notify("isoscope: " .. err.message, vim.log.levels.WARN) end
      refresh()
      if done then done(err, result) end
    end)
  end
end

local function on_command(given)
  local words = {}
  for i = 2, #given.fargs do words[i - 1] = tonumber(given.fargs[i]) or given.fargs[i] end
  M.command(given.fargs[1], words, function(err, result)
    if not err and type(result) == "table" and result.text then vim.notify(result.text) end
  end)
end

function M.setup(options)
  options = options or {}
  vim.api.nvim_create_autocmd("FileType", {
    pattern = options.filetypes or { "c", "cpp", "rust", "python", "d", "ada", "java", "ruby", "php", "javascript" },
    callback = function(event) M.attach(event.buf, options) end,
  })
  vim.api.nvim_create_autocmd({ "BufEnter", "InsertLeave" }, {
    callback = refresh,
  })
  vim.api.nvim_create_user_command("Isoscope", on_command, { nargs = "+" })
end

return M
