"""Looks for misspelt words in the texts below folders: rare ones that are one letter away from a common one.

    python3 spelling.py FOLDER...

A program to profile: loops of pure Python, a generator, calls into C that do most of their work there, and threads
that share the interpreter. It needs Python 3.8 and its own library only, and knows nothing of isoscope.
"""

import collections
import hashlib
import os
import re
import sys
import threading
import zlib

SUFFIXES = (".c", ".h", ".md", ".py", ".ts", ".tsx", ".json")
WORD = re.compile(r"[a-z]{5,14}")
COMMON, RARE_MOST = 12, 1500


def texts(folder):
    """Paths, in an order that is the same everywhere."""
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        for name in sorted(names):
            if name.endswith(SUFFIXES):
                yield os.path.join(top, name)


def words(path):
    """A generator: its frame stands in samples while it runs, and in none between two words."""
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            for match in WORD.finditer(line.lower()):
                yield match.group()


def distance(one, other, most):
    """Letters to change, add or take away; more than most: most + 1."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, wanted in enumerate(other, 1):
            here = before if letter == wanted else 1 + min(before, row[j], row[j - 1])
            before, row[j] = row[j], here
        if min(row) > most:
            return most + 1
    return row[-1]


class Index:
    """Common words by the pairs of letters that they have."""

    def __init__(self, known):
        self.by_pair = collections.defaultdict(set)
        for word in known:
            for pair in self.pairs(word):
                self.by_pair[pair].add(word)

    @staticmethod
    def pairs(word):
        return [word[i : i + 2] for i in range(len(word) - 1)]

    def near(self, word):
        """Those that share most of its pairs."""
        pairs = self.pairs(word)
        shared = collections.Counter(one for pair in pairs for one in self.by_pair[pair])
        return [one for one, count in shared.items() if count >= len(pairs) - 3]


def misspelt(counts):
    index = Index(word for word, count in counts.items() if count >= COMMON)
    rare = sorted(word for word, count in counts.items() if count == 1)[:RARE_MOST]
    for word in rare:
        for known in index.near(word):
            if distance(word, known, 1) == 1:
                yield word, known


class Weighing(threading.Thread):
    """zlib and hashlib work without the interpreter's lock: beside the others, not instead of them."""

    def __init__(self, paths):
        super().__init__(name="weighing")
        self.paths, self.bytes, self.packed, self.seen = paths, 0, 0, set()

    def run(self):
        for path in self.paths:
            with open(path, "rb") as file:
                text = file.read()
            self.seen.add(hashlib.sha256(text).digest())
            self.bytes += len(text)
            self.packed += len(zlib.compress(text, 9))


def main():
    paths = [path for folder in sys.argv[1:] or ["."] for path in texts(folder)]
    weighing = Weighing(paths)
    weighing.start()
    counts = collections.Counter(word for path in paths for word in words(path))
    found = list(misspelt(counts))
    weighing.join()
    print(f"{len(paths):,} texts, {len(weighing.seen):,} of them different: {weighing.bytes:,} bytes,"
          f" {weighing.packed:,} packed; {len(counts):,} words")
    for word, known in found[:5]:
        print(f"  {word}: {known}?")


if __name__ == "__main__":
    main()
