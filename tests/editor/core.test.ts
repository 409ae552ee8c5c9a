import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { baseOf, nameOf, uriInFile } from "../../clients/editor/src/core/address";
import { buildIdOf } from "../../clients/editor/src/core/build_id";
import { findServices } from "../../clients/editor/src/core/find";
import { markdown, plain, shortened } from "../../clients/editor/src/core/safe_text";
import { mappingOf, SourceMap } from "../../clients/editor/src/core/source_map";
import { trendOf } from "../../clients/editor/src/core/trend";
import { isDefinedAt } from "../../clients/editor/src/lsp/defined_at";
import { lastName } from "../../clients/editor/src/lsp/file_view";

function folder(t: TestContext): string {
  const made = realpathSync(mkdtempSync(join(tmpdir(), "isoscope-test-")));
  t.after(() => rmSync(made, { recursive: true }));
  return made;
}

test("each form of a service's address is the page's", () => {
  for (const uri of ["http://127.0.0.1:81/T=/", "http://127.0.0.1:81/T=", "ws://127.0.0.1:81/T=/ws", "ws://127.0.0.1:81/T=/ws/"])
    assert.equal(baseOf(uri), "http://127.0.0.1:81/T=/");
  assert.equal(nameOf("http://127.0.0.1:81/T=/"), "127.0.0.1:81");
  assert.throws(() => baseOf("unix:/run/x.sock"), /editors need a port/);
  assert.throws(() => baseOf("ftp://x/"), /is not the URI of a service/);
});

test("services are found by files of the project, the newest first, each once", (t) => {
  const root = folder(t);
  const write = (name: string, text: string, age_s: number) => {
    writeFileSync(join(root, name), text);
    const time = Date.now() / 1000 - age_s;
    utimesSync(join(root, name), time, time);
  };
  mkdirSync(join(root, ".isoscope"));
  write("old.json", '{"uri":"http://127.0.0.1:81/a=/"}', 100);
  write(".isoscope/new.json", '{"uri":"http://127.0.0.1:82/b=/"}', 10);
  write("again.json", '{"uri":"ws://127.0.0.1:81/a=/ws"}', 200);
  write("package.json", '{"name":"x"}', 1);
  write("broken.json", "{", 1);
  write("large.json", `{"uri":"http://127.0.0.1:83/c=/","x":"${"x".repeat(5000)}"}`, 1);
  const found = findServices([root], { ISOSCOPE_URI: "http://127.0.0.1:84/d=/" });
  assert.deepEqual(found.map(({ base }) => new URL(base).port), ["84", "82", "81"]);
  assert.equal(found[0].told, "$ISOSCOPE_URI");
  assert.equal(uriInFile(join(root, "nowhere.json")), null);
});

test("of several mappings the longest counts, and whole names of folders only", (t) => {
  const root = folder(t);
  for (const name of ["a/x.c", "b/x.c", "y.c"]) {
    mkdirSync(join(root, name, ".."), { recursive: true });
    writeFileSync(join(root, name), "");
  }
  const maps = [mappingOf(`/build=${root}/a`), mappingOf(`/build/inner/=${root}/b/`)];
  const sources = new SourceMap(maps, [root]);
  assert.equal(sources.local("/build/x.c"), join(root, "a/x.c"));
  assert.equal(sources.local("/build/other/../inner/x.c"), join(root, "b/x.c"));
  assert.equal(sources.local("/builder/x.c"), null);
  assert.equal(sources.local("./y.c"), join(root, "y.c")); // of a folder of the project
  assert.equal(sources.local(""), null);
  symlinkSync(join(root, "a"), join(root, "link"));
  assert.equal(sources.local(join(root, "link/x.c")), join(root, "a/x.c"));
  for (const text of ["/build", "=/here", "/build="]) assert.throws(() => mappingOf(text), /FROM=TO/);
});

test("a build id is read from programs, and from nothing else", (t) => {
  assert.match(buildIdOf(process.execPath), /^([0-9a-f]{16,})?$/);
  assert.match(buildIdOf("/proc/self/exe"), /^([0-9a-f]{16,})?$/);
  const root = folder(t);
  for (const [name, bytes] of [["text", "no program"], ["cut", "\x7fELF\x02\x01"], ["empty", ""]]) {
    writeFileSync(join(root, name), bytes, "latin1");
    assert.equal(buildIdOf(join(root, name)), "");
  }
  assert.equal(buildIdOf(root), "");
  assert.equal(buildIdOf(join(root, "nowhere")), "");
});

test("a trend is clear where chance does not explain it", () => {
  const before = { name: "", samples: 1000, shares: new Map([["a", { self: 0, total: 0.5 }]]) };
  assert.deepEqual(trendOf(before, "a", 0.5, 1000), { difference: 0, isClear: false });
  assert.equal(trendOf(before, "a", 0.53, 1000)?.isClear, false);
  assert.equal(trendOf(before, "a", 0.6, 1000)?.isClear, true);
  assert.equal(trendOf(before, "b", 0.001, 1000)?.isClear, false); // one sample of what was never met
  assert.equal(trendOf(before, "b", 0.1, 1000)?.isClear, true);
  assert.equal(trendOf(null, "a", 0.5, 1000), null);
});

test("names are shown as they are, and obeyed by nobody", () => {
  assert.equal(plain("a\nb\x1b[31m\u202e"), "a?b?[31m?");
  assert.equal(markdown("*a*[x](y)"), "\\*a\\*\\[x\\]\\(y\\)");
  assert.equal(markdown("<b>&amp;`"), "\\<b\\>\\&amp;\\`");
  assert.equal(shortened("abcdefghij", 5), "ab…ij");
  assert.equal(shortened("abc", 5), "abc");
});

test("a function is looked for by the last part of its name", () => {
  const names: [string, string][] = [
    ["hot", "hot"],
    ["std::vector<int, std::allocator<int> >::push_back(int&&)", "push_back"],
    ["app::Thing::~Thing", "~Thing"],
    ["void run<Task<int> >(Task<int>)", "run"],
    ["core::ptr::drop_in_place", "drop_in_place"],
    ["Class.method", "method"],
  ];
  for (const [name, last] of names) assert.equal(lastName(name), last);
});

test("a definition is told from a call, and what could be either is none", () => {
  const isDefined = (text: string, name = "hot") => {
    const lines = text.split("\n");
    return isDefinedAt(lines, lines.length - 1, name);
  };
  for (const text of [
    "static void hot(int count)",
    "__attribute__((noinline)) static void hot(int count)",
    "template <class T> T Thing<T>::hot(T one) const {",
    "    def hot(self):",
    "pub fn hot<T>(one: T) -> T {",
    "void\nhot (int count)",
  ])
    assert.ok(isDefined(text), text);
  for (const text of [
    "    hot(3)",
    "hot(3)",
    "x = 1\nhot(3)",
    "    if (hot(3))",
    "    return hot(3) +",
    "    auto x = hot(3)",
    "    call(hot(3),",
    "    thing.hot(3)",
    "void hot(int count);",
    "static void hotter(int count)",
    "static void snapshot(int count)",
    "// hot",
  ])
    assert.ok(!isDefined(text), text);
  assert.ok(isDefined("Thing::~Thing()", "~Thing"));
});
