// The programs of the pictures: each a command under `isoscope run`.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { busy } from "./service.mjs";

// Four threads that work on different things, by different libraries, and wait for each other.
const PYTHON = `
import ast, ctypes, glob, hashlib, json, sqlite3, threading, time, zlib
texts = [open(path, encoding="utf-8", errors="replace").read() for path in sorted(glob.glob("/usr/lib/python3*/*.py"))]
name = lambda text: ctypes.CDLL(None).prctl(15, text.encode(), 0, 0, 0)
end = time.monotonic() + 6
def parse(text): ast.parse(text)
def compress(text): zlib.decompress(zlib.compress(text.encode(), 6))
def digest(text): hashlib.sha256(text.encode() * 40).hexdigest()
def query(text):
    base = sqlite3.connect(":memory:")
    base.execute("create table words (word text, length int)")
    base.executemany("insert into words values (?, ?)", [(word, len(word)) for word in text.split()])
    base.execute("select length, count(*), max(word) from words group by length order by 2 desc").fetchall()
def work(number, label, act):
    name(label)
    while time.monotonic() < end:
        for text in texts[number::4]:
            act(text)
            if time.monotonic() > end: break
        time.sleep(0.05)
for number, (label, act) in enumerate([("parser", parse), ("worker-1", compress), ("worker-2", digest), ("worker-3", query)]):
    threading.Thread(target=work, args=(number, label, act)).start()
`;

// Threads that count words by patterns, in maps: names are long. Words: how many threads, how many rounds of each.
const CPP = `
#include <algorithm>
#include <map>
#include <pthread.h>
#include <random>
#include <regex>
#include <string>
#include <thread>
#include <vector>

namespace words {
using Counts = std::map<std::string, std::vector<std::size_t>>;

template <typename Random> std::string made(Random &random)
{
    std::uniform_int_distribution<int> letter('a', 'f'), length(3, 30);
    std::string text;
    for (int left = length(random); left > 0; left--)
        text += left % 7 ? static_cast<char>(letter(random)) : ' ';
    return text;
}

struct Counter {
    std::regex pattern{"([a-c]+)([d-f]*)( |$)"};
    Counts counts;

    template <typename Each> void each(const std::string &text, Each act)
    {
        for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
            act((*at)[1].str(), static_cast<std::size_t>(at->position()));
    }
    void count(const std::string &text)
    {
        each(text, [this](std::string word, std::size_t at) { counts[std::move(word)].push_back(at); });
    }
    void sort()
    {
        for (auto &[word, places] : counts)
            std::sort(places.begin(), places.end(), [](auto a, auto b) { return a > b; });
    }
};
} // namespace words

int main(int, char **words)
{
    const int threads = std::stoi(words[1]), rounds = std::stoi(words[2]);
    std::vector<std::thread> running;
    for (int number = 0; number < threads; number++)
        running.emplace_back([number, rounds] {
            static const char *const names[] = {"reader-", "parser-", "writer-"};
            pthread_setname_np(pthread_self(), (names[number % 3] + std::to_string(number / 3)).c_str());
            std::mt19937 random(static_cast<unsigned>(number));
            words::Counter counter;
            for (int left = rounds; left > 0; left--) {
                counter.count(words::made(random));
                if (left % 1000 == 0)
                    counter.sort();
            }
        });
    for (auto &one : running)
        one.join();
}
`;

/**
 * folder: for what they need. how: "ended", "killed" while the page looks, "runs"; mode: the profiler's; all: every
 * view and sheet is worth a picture.
 */
export function programs(folder) {
  const script = join(folder, "four_threads.py");
  const source = join(folder, "words.cpp");
  const built = join(folder, "words");
  writeFileSync(script, PYTHON);
  writeFileSync(source, CPP);
  const compiler = process.env.CXX ?? "c++";
  const made = spawnSync(compiler, ["-std=c++17", "-O2", "-g", "-pthread", "-o", built, source]);
  if (made.status !== 0) throw new Error(`${compiler}: ${made.stderr}`);
  return {
    python: { command: ["/usr/bin/python3", script], how: "ended", mode: "wall", all: true },
    cpp: { command: [built, "3", "300000"], how: "ended", mode: "cpu", all: true },
    threads: { command: [built, "300", "4000"], how: "ended", mode: "cpu" },
    empty: { command: ["/bin/sleep", "1000"], how: "runs", mode: "cpu" },
    killed: { command: busy(1000), how: "killed", mode: "cpu" },
  };
}
