"""python_storms.py SECONDS KIND...: what changes Python's frames the most, each kind in a thread of its own.

SECONDS: of CPU time. Functions tell who must have called them: a frame named "a__under__b" is called, with
whatever in between, by one named "b__under__...", and one named "a__under__root" by none such. torture.py checks that of
every stack. Ends with status 77 where a kind's library is not here.
"""

import ctypes
import gc
import os
import sys
import threading
import time

KINDS = {}
END_S = 0.0
BESIDE = os.path.dirname(os.path.abspath(sys.argv[0]))


def kind(function):
    KINDS[function.__name__.split("__under__")[0]] = function
    return function


def is_over():
    return time.process_time() >= END_S


def busy():
    return sum(i * i for i in range(150))


def made(name, body, **names):
    """A function that is compiled now, and in no module."""
    space = {"busy": busy, **names}
    exec(compile("def %s(*given):\n%s" % (name, body), "<made %s>" % name, "exec"), space)
    return space[name]


@kind
def execs__under__root():
    number = 0
    while not is_over():
        number += 1
        inner = made("inner%d__under__outer%d" % (number, number), "    return busy() + busy()")
        outer = made("outer%d__under__execs" % number, "    a = inner()\n" + "    a += 1\n" * (number % 40) +
                     "    return a + inner()", inner=inner)
        outer()
        exec("def text%d__under__execs():\n    return busy()\ntext%d__under__execs()" % (number, number),
             {"busy": busy})


@kind
def evals__under__root():
    number = 0
    while not is_over():
        number += 1
        eval("(lambda a: [inner() for _ in range(3)])(%d)" % number,
             {"inner": made("inner__under__evals", "    return busy()")})


@kind
def generators__under__root():
    def leaf__under__middle():
        for i in range(5):
            yield busy()

    def middle__under__consumer():
        yield from leaf__under__middle()
        yield busy()

    def consumer__under__generators():
        total = sum(middle__under__consumer())
        left = middle__under__consumer()
        next(left)
        left.close()
        return total

    while not is_over():
        consumer__under__generators()


@kind
def deletions__under__root():
    class Chain:
        def __init__(self, next_one):
            self.next_one = next_one

    def end__under__holder(self):
        busy()
        busy()

    def holder__under__deletions():
        one = Chain(None)
        busy()
        del one

    Chain.__del__ = end__under__holder
    while not is_over():
        holder__under__deletions()


@kind
def cycles__under__root():
    """Who collects them calls their ends: any thread."""
    class Node:
        def __del__(self):
            busy()

    while not is_over():
        for _ in range(50):
            a, b = Node(), Node()
            a.other, b.other = b, a
        made("collects__under__cycles", "    gc.collect(0)\n    busy()", gc=gc)()


@kind
def deep__under__root():
    """Down and up again, through C's frames too, with frames in chunks that are given back."""
    def bottom__under__top():
        busy()

    def down(depth):
        if depth == 0:
            bottom__under__top()
        elif depth % 3 == 0:
            list(map(down, [depth - 1]))
        else:
            down(depth - 1)

    def top__under__deep(depth):
        down(depth)
        busy()

    while not is_over():
        for depth in (5, 40, 90, 150):
            top__under__deep(depth)


@kind
def raises__under__root():
    def throws__under__catches(depth):
        busy()
        if depth == 0:
            raise KeyError(depth)
        return [none for none in map(recurses, [depth - 1])]

    def recurses(depth):
        try:
            if depth == 0:
                raise KeyError(depth)
            return recurses(depth - 1)
        finally:
            busy()

    def catches__under__raises():
        try:
            throws__under__catches(6)
        except KeyError:
            busy()

    while not is_over():
        catches__under__raises()


@kind
def threads__under__root():
    def short__under__root():
        made("inner__under__short", "    return busy()")()

    while not is_over():
        started = [threading.Thread(target=short__under__root) for _ in range(4)]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()


@kind
def tasks__under__root():
    import asyncio

    async def awaited__under__work():
        busy()
        await asyncio.sleep(0)
        return busy()

    async def work__under__tasks():
        for _ in range(20):
            await awaited__under__work()

    async def task():
        """Called by main, which makes its coroutine, and run by the loop."""
        await work__under__tasks()

    async def main__under__tasks():
        await asyncio.gather(*(task() for _ in range(20)))

    while not is_over():
        asyncio.run(main__under__tasks())


@kind
def jumps__under__root():
    """A library that leaves its own frames by longjmp, with Python's called beyond them."""
    library = ctypes.CDLL(os.path.join(BESIDE, "python_jumps.so"))
    calling = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)

    def called__under__jumper(depth):
        return busy() % 2 + depth

    called = calling(called__under__jumper)

    def jumper__under__jumps():
        assert library.jump_after(called, 20) == 21

    while not is_over():
        jumper__under__jumps()


@kind
def greenlets__under__root():
    try:
        import greenlet
    except ImportError:
        not_here("there is no greenlet (PyPI)")

    def leaf__under__switching(back):
        for _ in range(20):
            busy()
            back.switch()
        made("ends__under__leaf", "    return busy()")()

    def switching__under__root():
        """In a greenlet of its own: its stack begins here."""
        leaf__under__switching(greenlet.getcurrent().parent)

    while not is_over():
        several = [greenlet.greenlet(switching__under__root) for _ in range(10)]
        while several:
            for one in several:
                one.switch()
            several = [one for one in several if not one.dead]


@kind
def gevents__under__root():
    try:
        import gevent
    except ImportError:
        not_here("there is no gevent (PyPI)")

    def leaf__under__spawned():
        for _ in range(10):
            busy()
            gevent.sleep(0)

    def spawned__under__root():
        leaf__under__spawned()

    while not is_over():
        gevent.joinall([gevent.spawn(spawned__under__root) for _ in range(20)])


@kind
def forks__under__root():
    def child__under__forks():
        made("inner__under__child", "    return [busy() for _ in range(100)]")()

    for _ in range(int(100 * float(sys.argv[1]))):  # its own CPU time is next to nothing
        pid = os.fork()
        if pid == 0:
            child__under__forks()
            os._exit(0)
        if os.waitpid(pid, 0)[1] != 0:
            fail("a child of fork ended otherwise")


@kind
def interpreters__under__root():
    try:
        import _interpreters as interpreters
    except ImportError:
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            not_here("there are no interpreters within interpreters")
    text = ("def busy():\n    return sum(i * i for i in range(30000))\n"
            "def within__under__interpreters():\n    return busy() + busy()\n"
            "within__under__interpreters()\n")
    while not is_over():
        one = interpreters.create()
        interpreters.run_string(one, text)
        interpreters.destroy(one)


def ends():
    """Interpreters that end while threads of theirs run."""
    text = ("import threading, time\n"
            "def spin():\n    while True: sum(range(100))\n"
            "for _ in range(3): threading.Thread(target=spin, daemon=True).start()\n"
            "time.sleep(0.05)\n")
    while not is_over():
        pid = os.spawnv(os.P_NOWAIT, sys.executable, [sys.executable, "-S", "-c", text])
        if os.waitpid(pid, 0)[1] != 0:
            fail("an interpreter ended otherwise")
        busy_until = time.process_time() + 0.05
        while time.process_time() < busy_until:
            busy()


KINDS["ends"] = ends


def not_here(why):
    print("not here: " + why, flush=True)
    os._exit(77)


def fail(why):
    print(why, flush=True)
    os._exit(1)


def main():
    global END_S
    END_S = time.process_time() + float(sys.argv[1])
    sys.setswitchinterval(0.0005)
    threading.excepthook = lambda given: (sys.__excepthook__(*given[:3]), fail("a thread failed"))
    threads = [threading.Thread(target=KINDS[word]) for word in sys.argv[2:]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("fine")


main()
