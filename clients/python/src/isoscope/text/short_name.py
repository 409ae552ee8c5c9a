"""Names of functions made to fit: what tells them apart least goes first.

    parameters and return type -> template arguments -> leading namespaces -> the left end

A closure keeps the function that it stands in. tests/labels/cases.json has the rule's cases; the page
follows them too (short_name.ts).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple, Optional

_PARTS_MOST = 32  # of a name; what is before them is dropped at once
_DEPTH_MOST = 8  # of types inside types
_CLOSERS = {"(": ")", "[": "]", "{": "}", "<": ">"}

# What compilers add to a name: clones, ABI tags, hashes.
_ADDED = re.compile(
    r" \[[a-z][^\]]*\]|\[abi:[^\]]*\]|(?:\.(?:part|constprop|isra|cold|lto_priv|llvm)(?:\.[0-9]+)*)+$"
    r"|::h[0-9a-f]{16}$"
)
_OPERATOR = re.compile(
    r"operator(?:\(\)|\[\]|->\*?|<=>|<<=?|>>=?|[<>]=?|[-+*/%^&|~!=,]+| (?:new|delete)(?:\[\])?"
    r'| ?"" ?\w+| [^(<][^(]*)(?: (?=<))?',
    re.ASCII,
)
_QUALIFIERS = re.compile(r"(?: (?:const|volatile|noexcept|&&?))+")
_CLOSURE = re.compile(
    r"\{.*\}|'lambda.*|\$_[0-9]+|func[0-9]+|gowrap[0-9]+|[0-9]+|__(?:func|dg)?(?:lambda|literal).*",
    re.DOTALL,
)
_LAMBDA_CALL = re.compile(
    r"((?:^|::)(?:\{lambda[^{}]*\}|'lambda[^']*'|\$_[0-9]+))::operator\(\)$"
)
_INSIDE = re.compile(r"\.<locals>\.|(?:^|\.)<\w+>$", re.ASCII)  # a lambda and so on inside of a Python function
_PYTHON = re.compile(r"py::(.+):(?:.*/)?([^/:]*)")
_WORD = re.compile(r"\w", re.ASCII)
_NAME_END = re.compile(r"[^\s*&(!]$")
_NOT_DOTTED = re.compile(r"[ @]|\+0x[0-9a-f]+$|\.(?![\w(*$~{])")


class _Token(NamedTuple):
    kind: str  # "group", "sep", "operator", "text"
    text: str


def short_name(name: str, characters: int) -> str:
    """As much of a name as so many characters have room for; "": they have none."""
    if len(name) <= characters:
        return name
    forms = name_forms(name)
    for form in forms:
        if len(form) <= characters:
            return form
    return "" if characters < 3 else "…" + forms[-1][1 - characters :]


@lru_cache(maxsize=50_000)
def name_forms(name: str) -> tuple[str, ...]:
    """The name and what is left of it, longest first."""
    forms = [form for form in _made(name) if form]
    return tuple(form for i, form in enumerate(forms) if i == 0 or form != forms[i - 1])


def _made(name: str) -> list[str]:
    if python := _PYTHON.fullmatch(name):
        return [name, f"{python[1]} ({python[2]})", python[1]]
    if re.match(r"[-+]?\[", name):
        return [name]
    if _INSIDE.search(name):
        return _inside_forms(name)
    plain = _ADDED.sub("", name) or name
    sep = _separator(plain)
    tokens = _tokens(plain, sep)
    if tokens is None:
        return [name]
    uncalled = _without_parameters(tokens)
    short = _LAMBDA_CALL.sub(r"\1", _joined(uncalled))
    again = _tokens(short, sep)
    rest = _joined(_without_templates(uncalled if again is None else again, sep, 0))
    if sep == ".":
        rest = re.sub(r"!\w+", "", rest, flags=re.ASCII)
    else:
        rest = _LAMBDA_CALL.sub(r"\1", rest.strip())
    forms = [name, short, rest]
    if sep == ".":
        rest = re.sub(r"^[^ (\[{<]*/", "", rest)
        forms.append(rest)
    return forms + _without_namespaces(rest, sep)


def _inside_forms(name: str) -> list[str]:
    """What has no name of its own keeps the function that it stands in."""
    parts = name.replace(".<locals>", "").split(".")[-_PARTS_MOST:]
    least = len(parts) - 1
    while least > 0 and parts[least].startswith("<"):
        least -= 1
    return [name, *[".".join(parts[start:]) for start in range(least + 1)]]


def _without_namespaces(rest: str, sep: str) -> list[str]:
    forms: list[str] = []
    parts = _parts(_tokens(rest, sep) or [])[-_PARTS_MOST:]
    if len(parts) > 1 and re.fullmatch("<.*>", parts[0], re.DOTALL):
        types = [_last(type_) for type_ in _types(parts[0])]
        if len(types) > 1:
            forms.append(sep.join([f"<{' as '.join(types)}>", *parts[1:]]))
        parts = [types[0], *parts[1:]]
        forms.append(sep.join(parts))
    least = len(parts) - 1
    while least > 0 and _CLOSURE.fullmatch(parts[least]):
        least -= 1
    return forms + [sep.join(parts[start:]) for start in range(1, least + 1)]


def _closed(text: str, i: int) -> int:
    """Behind the bracket that belongs to the one at i; 0: there is none."""
    opening, closing = text[i], _CLOSERS[text[i]]
    depth = 0
    while i < len(text):
        one = text[i]
        if one == opening:
            depth += 1
        elif one == closing and not (closing == ">" and text[i - 1] in "-="):
            depth -= 1
            if not depth:
                return i + 1
        elif opening == "<" and one == "(":
            end = _closed(text, i)
            if not end:
                return 0
            i = end - 1
        i += 1
    return 0


def _tokens(text: str, sep: str) -> Optional[list[_Token]]:
    """None: its brackets do not match."""
    found: list[_Token] = []
    i = 0
    while i < len(text):
        kind, end = "text", i + 1
        inside = i > 0 and _WORD.match(text[i - 1])
        operator = None if inside else _OPERATOR.match(text, i)
        if text.startswith(sep, i):
            kind, end = "sep", i + len(sep)
        elif operator:
            kind, end = "operator", operator.end()
        elif text[i] in _CLOSERS:
            kind, end = "group", _closed(text, i)
        if not end:
            return None
        if kind == "text" and found and found[-1].kind == "text":
            found[-1] = _Token("text", found[-1].text + text[i:end])
        else:
            found.append(_Token(kind, text[i:end]))
        i = end
    return found


def _joined(tokens: list[_Token]) -> str:
    return "".join(token.text for token in tokens)


def _is_name(token: Optional[_Token]) -> bool:
    """What a bracket may belong to."""
    if token is None or token.kind == "sep":
        return False
    return token.kind != "text" or _NAME_END.search(token.text) is not None


def _without_parameters(tokens: list[_Token]) -> list[_Token]:
    kept: list[_Token] = []
    before: Optional[_Token] = None
    dropped = called = False  # just now; at all: it is a signature
    for token in tokens:
        if token.kind == "group" and token.text[0] == "(" and _is_name(before):
            dropped = called = True
            continue
        text = token.text
        if dropped and token.kind == "text" and (qualified := _QUALIFIERS.match(text)):
            text = text[qualified.end() :]
        if token.kind == "group" and text[0] == "{":
            text = re.sub(r"\(.*\)", "", text, flags=re.DOTALL)
        if token.kind == "group" and text.startswith("<lambda"):  # GCC's debug data
            text = "{lambda}"
        dropped = False
        before = _Token(token.kind, text)
        if text:
            kept.append(before)
    return _without_type(kept) if called else kept


def _without_type(tokens: list[_Token]) -> list[_Token]:
    """From behind the last space on that no bracket holds."""
    for i in range(len(tokens) - 1, -1, -1):
        kind, text = tokens[i]
        if kind == "text" and " " in text:
            rest = text.rpartition(" ")[2]
            return ([_Token(kind, rest)] if rest else []) + tokens[i + 1 :]
    return tokens


def _without_templates(tokens: list[_Token], sep: str, depth: int) -> list[_Token]:
    kept: list[_Token] = []
    for token in tokens:
        text = token.text
        before = kept[-1] if kept else None
        if token.kind != "group" or text[0] == "{":
            kept.append(token)
        elif text == "(anonymous namespace)":
            continue
        elif text[0] == "(":
            if before and before.text.endswith("!"):
                kept[-1] = _Token(before.kind, before.text[:-1])
            else:
                kept.append(token)
        elif _is_name(before):
            continue
        elif text[0] == "<" and before and before.kind == "sep" and not text.startswith("<impl "):
            kept.pop()
        elif text[0] == "<":
            kept.append(_Token("group", f"<{_plain_types(text, sep, depth)}>"))
        else:
            kept.append(token)
    # Of what went, its separators go too.
    return [
        token
        for i, token in enumerate(kept)
        if token.kind != "sep" or (0 < i < len(kept) - 1 and kept[i - 1].kind != "sep")
    ]


def _plain_types(group: str, sep: str, depth: int) -> str:
    """`<A as B>`: both without their arguments."""
    plain = []
    for type_ in _types(group):
        tokens = _tokens(type_, sep) if depth < _DEPTH_MOST else None
        plain.append(
            type_ if tokens is None else _joined(_without_templates(tokens, sep, depth + 1))
        )
    return " as ".join(plain)


def _types(group: str) -> list[str]:
    """`<A as B>` -> A, B"""
    inside = group[1:-1]
    i = 0
    while i < len(inside):
        if inside.startswith(" as ", i):
            return [inside[:i], inside[i + 4 :]]
        if inside[i] in _CLOSERS:
            end = _closed(inside, i)
            if not end:
                break
            i = end
        else:
            i += 1
    return [inside]


def _last(type_: str) -> str:
    return type_.rpartition("::")[2]


def _parts(tokens: list[_Token]) -> list[str]:
    parts = [""]
    for token in tokens:
        if token.kind == "sep":
            parts.append("")
        else:
            parts[-1] += token.text
    return parts


def _separator(name: str) -> str:
    """Names of Go and D have dots where C++ and Rust have colons; so have files, which are no names."""
    if "::" in name:
        return "::"
    return "::" if _NOT_DOTTED.search(name) else "."
