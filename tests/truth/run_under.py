"""python3 run_under.py ORACLE.so OUT PERIOD_US [-m] PROGRAM ARGS...: a program, with its stacks dumped twice at each tick.

For CPython 3.9 and later. Children of the program are not looked at.
"""

import ctypes
import faulthandler
import os
import runpy
import signal
import sys


def main():
    library, out, period_us, *words = sys.argv[1:]
    oracle = ctypes.CDLL(library)
    parent = os.getpid()
    dump = os.memfd_create("dump")
    faulthandler.register(signal.SIGPROF, file=dump, all_threads=False)
    if oracle.oracle_start(dump, ctypes.c_long(int(period_us))) != 0:
        sys.exit("run_under: the oracle does not start")
    by_name = words[0] == "-m"
    sys.argv = words[by_name:]
    try:
        if by_name:
            sys.path.insert(0, os.getcwd())
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, os.path.dirname(os.path.abspath(words[0])))
            runpy.run_path(words[0], run_name="__main__")
    finally:
        if os.getpid() == parent and oracle.oracle_finish(os.fsencode(out)) != 0:
            sys.exit("run_under: the samples cannot be written")


main()
