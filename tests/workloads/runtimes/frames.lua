-- What runs on each line, and what it may call: NAME > CALLEE, CALLEE | NAME ... (tests/live/marked.py).
local ends = os.clock() + (tonumber(arg[1]) or 1)

Shape = {}
Shape.__index = Shape

function Shape.new()
  return setmetatable({}, Shape)        --#: new > setmetatable
end

function Shape:area(n)
  local x = 0                           --#: area
  for i = 1, n do                       --#: area
    x = x + i * 2                       --#: area
    x = x % 65537                       --#: area
  end                                   --#: area
  return x                              --#: area
end

function Shape:__add(n)
  local x = self:area(n)                --#: __add > area
  return x                              --#: __add
end

local function by_work(a, b)
  local s = 0                           --#: function <frames.lua:25>
  for i = 1, 100 do                     --#: function <frames.lua:25>
    s = s + i                           --#: function <frames.lua:25>
  end                                   --#: function <frames.lua:25>
  return a < b                          --#: function <frames.lua:25>
end

function Shape.make(n)
  local t = { 3, 1, 2 }                 --#: make
  table.sort(t, by_work)                --#: make > sort
  local s = Shape.new()                 --#: make > new
  local x = s + n                       --#: make > __add
  x = x + s:area(n)                     --#: make > area
  return x                              --#: make
end

function again(n, depth)
  local x                               --#: again
  if depth == 0 then                    --#: again
    x = Shape.make(n)                   --#: again > make
  else
    x = again(n, depth - 1)             --#: again > again
  end
  return x                              --#: again
end

local function catching(n)
  local caught = pcall(function()       --#: catching > pcall
    again(n, 2)                         --#: function <frames.lua:53> > again
    error("never mind")                 --#: function <frames.lua:53> > error
  end)                                  --#: catching | function <frames.lua:53>
  return caught                         --#: catching
end

local function yielding(n)
  for i = 1, 3 do                       --#: yielding
    coroutine.yield(Shape.make(n))      --#: yielding > make, yield
  end                                   --#: yielding
end                                     --#: yielding

local function generate(n)
  return coroutine.wrap(function()      --#: generate > wrap
    local done = pcall(function()       --#: function <frames.lua:67> > pcall
      yielding(n)                       --#: function <frames.lua:68> > yielding
    end)                                --#: function <frames.lua:68> | function <frames.lua:67>
  end)                                  --#: function <frames.lua:67> | generate
end

local function replaced(text)
  local s = string.gsub(text, "%a+", function(word)  --#: replaced > gsub
    local x = 0                         --#: function <frames.lua:75>
    for i = 1, 200 do                   --#: function <frames.lua:75>
      x = x + i                         --#: function <frames.lua:75>
    end                                 --#: function <frames.lua:75>
    return word                         --#: function <frames.lua:75>
  end)                                  --#: replaced
  return s                              --#: replaced
end

--#: sort > function <frames.lua:25> | pcall > function <frames.lua:53>, function <frames.lua:68>
--#: for iterator > function <frames.lua:67> | gsub > function <frames.lua:75> | setmetatable | error | yield | wrap | clock
while os.clock() < ends do              --#: main chunk > clock
  catching(300)                         --#: main chunk > catching
  for _ in generate(300) do             --#: main chunk > generate, for iterator
  end                                   --#: main chunk
  replaced("some words of a text")      --#: main chunk > replaced
  again(50, 20)                         --#: main chunk > again
end
