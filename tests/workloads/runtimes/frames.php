<?php # What runs on each line, and what it may call: NAME > CALLEE, CALLEE | NAME ... (tests/live/marked.py).
class Shape
{
    public int $n = 0;

    function area(int $n): int                   #: Shape::area
    {
        $x = 0;                                  #: Shape::area
        for ($i = 0; $i < $n; $i++) {            #: Shape::area
            $x += $i * 2;                        #: Shape::area
            $x = $x % 65537;                     #: Shape::area
        }
        return $x;                               #: Shape::area
    }                                            #: Shape::area

    static function make(int $n): array          #: Shape::make
    {
        return array_map(function ($k) use ($n) {  #: Shape::make > array_map | Shape::{closure}
            return (new Shape)->area($n);        #: Shape::{closure} > Shape::area
        }, [1, 2]);                              #: Shape::make > array_map | Shape::{closure}
    }                                            #: Shape::make

    function __toString(): string                #: Shape::__toString
    {
        return implode(",", range(1, 40));       #: Shape::__toString > implode, range
    }                                            #: Shape::__toString

    function __get($name)                        #: Shape::__get
    {
        return $this->area(200);                 #: Shape::__get > Shape::area
    }                                            #: Shape::__get
}

function numbers(int $n)                         #: numbers
{
    for ($i = 0; $i < 3; $i++)                   #: numbers
        yield Shape::make($n);                   #: numbers > Shape::make
}                                                #: numbers

function outer(int $n)                           #: outer
{
    yield from numbers($n);                      #: outer > numbers
}                                                #: outer

function thrower(int $n)                         #: thrower
{
    try {
        throw new RuntimeException("never mind");  #: thrower > Exception::__construct
    } catch (RuntimeException $e) {              #: thrower
        foreach (outer($n) as $v)                #: thrower > outer, numbers
            usort($v, fn($a, $b) => $a <=> $b);  #: thrower > usort | {closure}
    } finally {                                  #: thrower
        $s = "" . new Shape;                     #: thrower > Shape::__toString
        $m = (new Shape)->missing;               #: thrower > Shape::__get
    }                                            #: thrower
}                                                #: thrower

function again(int $n, int $depth): void         #: again
{
    if ($depth == 0)                             #: again
        thrower($n);                             #: again > thrower
    else
        again($n, $depth - 1);                   #: again > again
}                                                #: again

function in_fiber(int $n): void                  #: in_fiber
{
    $fiber = new Fiber(function () use ($n) {    #: in_fiber > Fiber::__construct | {closure}
        again($n, 1);                            #: {closure} > again
        Fiber::suspend();                        #: {closure} > Fiber::suspend
        again($n, 1);                            #: {closure} > again
    });                                          #: in_fiber > Fiber::__construct | {closure}
    $fiber->start();                             #: in_fiber > Fiber::start
    $fiber->resume();                            #: in_fiber > Fiber::resume
}                                                #: in_fiber

$ends = microtime(true) + (float)($argv[1] ?? 1);
while (microtime(true) < $ends) {                #: {main} > microtime
    again(300, 3);                               #: {main} > again
    in_fiber(300);                               #: {main} > in_fiber
    eval('again(300, 1);');                      #: {main} > eval
}
#: array_map > Shape::{closure}
#: usort > {closure}
#: eval > again
#: Fiber::start > {closure}
#: Fiber::resume > {closure}
