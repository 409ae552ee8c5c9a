# What runs on each line, and what it may call: NAME > CALLEE, CALLEE | NAME ... (tests/live/marked.py).
class Shape
  def area(n)
    x = 0                                      #: Shape#area
    n.times { |i|                              #: Shape#area > Integer#times | block in Shape#area
      x += i * 2                               #: block in Shape#area
      x = x % 65_537                           #: block in Shape#area
    }
    x                                          #: Shape#area
  end

  def self.make(n)
    [1, 2].each do |k|                         #: Shape.make > Array#each | block in Shape.make
      shape = new                              #: block in Shape.make > Class#new
      shape.area(n)                            #: block in Shape.make > Shape#area
    end
  end

  def to_s
    kept = (1..20).map { |i| i * i }           #: Shape#to_s > Enumerable#map, Range#each | block in Shape#to_s
    kept.join(",")                             #: Shape#to_s > Array#join
  end
end

module Tools
  def self.work(n)
    begin
      raise "never mind"                       #: Tools.work > Kernel#raise
    rescue RuntimeError                        #: Tools.work > rescue in Tools.work | rescue in Tools.work > Module#===, Exception#===
      Shape.make(n)                            #: rescue in Tools.work > Shape.make
    ensure
      "#{Shape.new}"                           #: Tools.work > Class#new, Shape#to_s
    end                                        #: Tools.work > rescue in Tools.work
  end

  define_method(:defined) { |n| again(n, 3) }  #: block in <module:Tools> > Tools#again
  def again(n, depth)
    return Tools.work(n) if depth == 0         #: Tools#again > Tools.work, Integer#==
    again(n, depth - 1)                        #: Tools#again > Tools#again
  end
end

class Tool
  include Tools
  def method_missing(name, *rest)
    catch(:done) do                            #: Tool#method_missing > Kernel#catch | block in Tool#method_missing
      send(:defined, *rest)                    #: block in Tool#method_missing > block in <module:Tools>, Kernel#send
      throw :done                              #: block in Tool#method_missing > Kernel#throw
    end
  end
end

def in_fiber(n)
  Fiber.new { Tool.new.anything(n) }.resume    #: Object#in_fiber > Fiber#resume, Class#new | block in Object#in_fiber > Tool#method_missing, Class#new
end

def in_thread(n)
  Thread.new { evaluated(n) }.join             #: Object#in_thread > Thread#join, Class#new, Thread.new, Thread#initialize | block in Object#in_thread > Object#evaluated
end

def evaluated(n)
  eval("Tool.new.anything(n)", binding, __FILE__, __LINE__) #: Object#evaluated > Kernel#eval, Kernel#binding, Object#evaluated, Tool#method_missing, Class#new
end

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC) #: Object#now > Process.clock_gettime
end

ends = now + ARGV.fetch(0, 1).to_f
while now < ends                               #: <main> > Object#now
  Tool.new.anything(300)                       #: <main> > Tool#method_missing, Class#new
  in_fiber(300)                                #: <main> > Object#in_fiber
  in_thread(300)                               #: <main> > Object#in_thread
  GC.start if ARGV.include?("gc")              #: <main> > GC.start, Array#include?
end
#: Integer#times > block in Shape#area
#: Array#each > block in Shape.make
#: Enumerable#map > Range#each
#: Range#each > block in Shape#to_s
#: Kernel#catch > block in Tool#method_missing
#: Kernel#send > block in <module:Tools>
#: Kernel#eval > Object#evaluated
#: Class#new > BasicObject#initialize, Fiber#initialize
#: Array#join > Integer#to_s
#: Thread.new > Thread#initialize
#: Kernel#raise > Exception.exception, Exception#exception, Exception#initialize, Exception#backtrace, Exception.new, Class#new
