"""python3 record.py [FILE] > VERSION.lines: line tables of FILE's code, and what the interpreter itself reads in them.

    code NAME FIRST_LINE TABLE       the table in hex, "-" when it is empty
    POSITION LINE                    from this byte of bytecode on, up to the next one or to "end"; 0: no line

The lines are PyCode_Addr2Line's, asked at each instruction; not those of Python code that decodes the table too.
Without FILE: shapes.py beside this, and code that jumps by hundreds of bytes and lines.
"""

import ctypes
import os
import sys
import types

line_at = ctypes.pythonapi.PyCode_Addr2Line
line_at.argtypes = [ctypes.py_object, ctypes.c_int]
line_at.restype = ctypes.c_int


def long_code():
    """Up and down by more lines, and over more bytes, than a byte of any table holds."""
    return ('def long(a):\n' + '\n' * 200 + '    a = (' + ' + '.join(['a[0]'] * 90) + ')\n' +
            '\n' * 300 + '    return f(\n' + '\n' * 140 + '        a,\n' + '\n' * 5000 + '        a)\n')


def codes_in(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_in(constant)


def record(code):
    table = code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab
    size = len(code.co_code)
    print('code', code.co_name.replace(' ', '_'), code.co_firstlineno, table.hex() or '-')
    before = None
    for position in range(0, size, 2):
        line = max(line_at(code, position), 0)
        if line != before:
            print(position, line)
            before = line
    print(size, 'end')


def main():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'shapes.py')
    path = sys.argv[1] if len(sys.argv) > 1 else beside
    print('python', '%d.%d.%d' % sys.version_info[:3])
    with open(path, encoding='utf-8') as file:
        sources = [file.read()]
    if len(sys.argv) == 1:
        sources.append(long_code())
    for source in sources:
        for code in codes_in(compile(source, 'file.py', 'exec')):
            record(code)


main()
