-- lua_storms.lua SECONDS KIND...: what changes Lua's frames the most, the kinds in turn.
--
-- SECONDS: of CPU time. Functions tell who must have called them: one named "a__under__b" is called, with whatever in
-- between, by one named "b__under__...", and one named "a__under__root" by none such. torture.py checks that of every
-- stack. `threads`: four threads, each with a lua_State of its own, by lua_threads.so, which lies beside this file.

local words = { ... }
local seconds = tonumber(table.remove(words, 1))
local over = os.clock() + seconds
local kinds = {}

local function busy()
    local sum = 0
    for i = 1, 200 do sum = sum + i % 7 end
    return sum
end

-- Yields out of two levels, closes one that waits, and wakes one from within another.
local function coroutines__under__root()
    local function leaf__under__runs()
        for _ = 1, 5 do
            busy()
            coroutine.yield()
        end
    end
    local function runs__under__consumer()
        leaf__under__runs()
        local within = coroutine.create(function() busy() coroutine.yield() end)
        coroutine.resume(within)
        coroutine.close(within)
        busy()
    end
    local function consumer__under__coroutines()
        -- What wrap gives is one C function for all, which has the name of its first call.
        local step = coroutine.wrap(function() runs__under__consumer() end)
        for _ = 1, 6 do step() end
    end
    consumer__under__coroutines()
end
kinds.coroutines = function() coroutines__under__root() end

-- Each error leaves by longjmp: Lua's frames, C's that called them, and whole coroutines.
local function errors__under__root()
    local function recurses(depth)
        busy()
        if depth == 0 then error({}) end
        local answer = recurses(depth - 1)
        return answer
    end
    local function throws__under__catches(depth)
        busy()
        local answer = recurses(depth)
        return answer
    end
    local function catches__under__errors()
        assert(not pcall(function() throws__under__catches(20) end))
        assert(not pcall(table.sort, { 3, 2, 1 }, function() throws__under__catches(2) end))
        assert(not pcall(string.gsub, "abc", ".", function() throws__under__catches(2) end))
        assert(not xpcall(function() throws__under__catches(5) end, function() return busy() end))
        local one = coroutine.create(function() throws__under__catches(5) end)
        assert(not coroutine.resume(one))
        busy()
    end
    catches__under__errors()
end
kinds.errors = function() errors__under__root() end

-- Whoever collects calls the ends of what nobody has any more; functions and their code are freed.
local function collections__under__root()
    local function ends() return busy() end
    local function makes__under__collections(number)
        for _ = 1, 20 do setmetatable({}, { __gc = ends }) end
        local made = load("local busy = ... ; local function made__under__makes() return busy() end " ..
                          "return (made__under__makes()) + " .. number)
        return made(busy) + 0
    end
    for number = 1, 10 do makes__under__collections(number) end
    collectgarbage("step", 100)
end
kinds.collections = function() collections__under__root() end

-- Down and up again, through C's frames and tail calls too; the stack is moved as it grows.
local function deep__under__root()
    local function bottom__under__top() return busy() + 0 end
    local function down(depth)
        if depth == 0 then
            bottom__under__top()
        elseif depth % 7 == 0 then
            pcall(down, depth - 1)
        elseif depth % 3 == 0 then
            return down(depth - 1)
        else
            down(depth - 1)
        end
    end
    local function top__under__deep(depth)
        down(depth)
        busy()
    end
    for _, depth in ipairs({ 5, 40, 90, 150 }) do
        coroutine.wrap(function() top__under__deep(depth) end)()
    end
end
kinds.deep = function() deep__under__root() end

-- Each call and return asks a function, and metamethods are called by instructions.
local function hooks__under__root()
    local function asked() return busy() end
    local number = setmetatable({}, { __add = function() return busy() end, __index = function() return busy() end })
    debug.sethook(asked, "cr", 50)
    local function called__under__hooks() return number + 1, number.field end
    for _ = 1, 20 do called__under__hooks() end
    debug.sethook()
end
kinds.hooks = function() hooks__under__root() end

kinds.threads = function()
    local beside = arg[0]:match("^(.*/)") or "./"
    local open, why = package.loadlib(beside .. "lua_threads.so", "luaopen_lua_threads")
    if not open then
        print("not here: " .. why)
        os.exit(77)
    end
    local text = assert(io.open(arg[0])):read("a")
    assert(open()(4, text, seconds) == 0, "a thread failed")
    over = 0
end

repeat
    for _, word in ipairs(#words > 0 and words or { "coroutines", "errors", "collections", "deep" }) do kinds[word]() end
until os.clock() >= over
if arg then print("fine") end
