-- What a user does in Neovim, without a screen: opens a file, runs its program, reads lenses, jumps to the hot line, runs
-- it again. What was seen is written as JSON.
--
--   nvim --headless -u NONE -c 'luafile nvim_session.lua'      $SESSION: a JSON object, see hosts.py
local given = vim.fn.json_decode(os.getenv("SESSION"))
local DEADLINE_MS = 60000
local seen = { said = {} }

local function finish(problem)
  seen.problem = problem
  vim.fn.writefile({ vim.fn.json_encode(seen) }, given.result)
  vim.cmd(problem and "cquit" or "qall!")
end

local function wait(what, condition)
  if not vim.wait(DEADLINE_MS, condition, 50) then error(what .. ": not within a minute") end
end

-- What stands behind the lines, as it is drawn.
local function lenses()
  local found = {}
  for name, space in pairs(vim.api.nvim_get_namespaces()) do
    if name:match("^vim_lsp_codelens") then
      for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })) do
        local text = ""
        for _, chunk in ipairs(mark[4].virt_text or {}) do text = text .. chunk[1] end
        found[tostring(mark[2] + 1)] = text
      end
    end
  end
  return found
end

local function ask(name, words)
  local answer
  require_isoscope.command(name, words, function(err, result) answer = err and { error = err.message } or result end)
  wait(name, function() return answer ~= nil end)
  return answer
end

-- Until the program has ended, and its last samples are shown.
local function run(entry)
  local started = vim.loop.hrtime()
  ask("run", { entry })
  wait("the program's end", function() return ask("status", {}).link == "lost" end)
  wait("lenses", function() return lenses()[tostring(given.hot)] ~= nil and lenses()[tostring(given.hot)]:match(entry == "even" and "total" or "▼") end)
  return { status = ask("status", {}), lenses = lenses(), seconds = (vim.loop.hrtime() - started) / 1e9 }
end

local function session()
  vim.notify = function(text) table.insert(seen.said, text) end
  require_isoscope = dofile(given.setup)
  require_isoscope.setup { cmd = { given.isoscope, "lsp" }, launch = given.launch }
  vim.cmd("filetype on")
  vim.cmd("edit " .. given.file)
  local id
  wait("the server", function()
    id = select(2, next(require_isoscope.clients))
    return id and vim.lsp.get_client_by_id(id) and vim.lsp.get_client_by_id(id).initialized
  end)
  seen.first = run("even")
  -- The hottest line, by its hint; and its function, by workspace/symbol.
  local hints = vim.diagnostic.get(0, { severity = vim.diagnostic.severity.HINT })
  table.sort(hints, function(a, b)
    return tonumber(a.message:match("self ([%d.]+)") or 0) > tonumber(b.message:match("self ([%d.]+)") or 0)
  end)
  seen.hints = #hints
  vim.api.nvim_win_set_cursor(0, { hints[1].lnum + 1, hints[1].col })
  seen.jump = { line = vim.api.nvim_win_get_cursor(0)[1], text = vim.api.nvim_get_current_line(), hint = hints[1].message }
  local answers = vim.lsp.buf_request_sync(0, "workspace/symbol", { query = "hot" }, DEADLINE_MS)
  local symbol = answers[id].result[1]
  vim.lsp.util.jump_to_location(symbol.location, "utf-16")
  seen.symbol = { name = symbol.name, line = vim.api.nvim_win_get_cursor(0)[1] }
  local at = vim.lsp.util.make_position_params()
  at.position.character = vim.api.nvim_get_current_line():find("hot%(") - 1
  seen.hover = vim.lsp.buf_request_sync(0, "textDocument/hover", at, DEADLINE_MS)[id].result.contents.value
  seen.second = run("less")
end

local worked, problem = xpcall(session, debug.traceback)
finish(not worked and problem or nil)
