import assert from "node:assert/strict";
import { test } from "node:test";
import { asOurs } from "../../clients/vscode/src/model/other_debuggers";
import { runnablesOf, testAt } from "../../clients/vscode/src/model/runnable";

const CPP = `#include <gtest/gtest.h>
int main(int argc, char **argv);
// int main()
/* int main()
TEST(In, Comment) {} */
TEST(Parser, ReadsNumbers) {}
  TEST_F( Fixture , Works )
TEST_P(Param, Each) {}
TYPED_TEST(Typed, One) {}
TYPED_TEST_P(TypedP, Two) {}
TEST_CASE("a name, with [signs] and \\"quotes\\"", "[tag]")
SCENARIO("it grows")
BOOST_AUTO_TEST_SUITE(outer)
BOOST_AUTO_TEST_SUITE(inner)
BOOST_AUTO_TEST_CASE(adds)
BOOST_AUTO_TEST_SUITE_END()
BOOST_FIXTURE_TEST_CASE(takes, Fix)
BOOST_AUTO_TEST_SUITE_END()
int not_main(int argc) { return main(argc, 0); }
int main(int argc, char **argv)
{
`;

test("main and tests are found where they are defined, with the words that run them alone", () => {
  const found = runnablesOf(CPP, "cpp").map(({ line, name, args }) => [line + 1, name, args?.[0] ?? null]);
  assert.deepEqual(found, [
    [6, "Parser.ReadsNumbers", "--gtest_filter=Parser.ReadsNumbers"],
    [7, "Fixture.Works", "--gtest_filter=Fixture.Works"],
    [8, "Param.Each", "--gtest_filter=*Param.Each/*"],
    [9, "Typed.One", "--gtest_filter=Typed/*.One"],
    [10, "TypedP.Two", "--gtest_filter=*TypedP/*.Two"],
    [11, 'a name, with [signs] and "quotes"', 'a name\\, with \\[signs] and "quotes"'],
    [12, "it grows", "Scenario: it grows"],
    [15, "outer/inner/adds", "--run_test=outer/inner/adds"],
    [17, "outer/takes", "--run_test=outer/takes"],
    [20, "main", null],
  ]);
  const doctest = runnablesOf('#include "doctest.h"\nTEST_CASE("a, b") {}\nSCENARIO("c") {}\n', "cpp");
  assert.deepEqual(doctest.map(({ args }) => args), [["--test-case=a\\, b"], ["--test-case=*Scenario: c"]]);
});

test("main is found in each language that has one, and tests of C++ in C++ only", () => {
  const lines: [string, string, number][] = [
    ["c", "static int x;\n  extern int y;\nint main(void) { return 0; }", 2],
    ["c", "int\nmain(int argc, char **argv)\n{", 1],
    ["rust", "pub async fn main() {", 0],
    ["go", "package main\n\nfunc main() {", 2],
    ["d", "void main()", 0],
    ["zig", "pub fn main() !void {", 0],
    ["fortran", "PROGRAM hot", 0],
  ];
  for (const [language, text, line] of lines) assert.deepEqual(runnablesOf(text, language), [{ line, name: "main", args: null }], language);
  assert.deepEqual(runnablesOf("TEST(A, B) {}\nint domain(int a) {\n", "c"), []);
  assert.deepEqual(runnablesOf("def main():", "python"), []);
});

test("a place is in the test that begins before it, and in none before the first and in main", () => {
  const all = runnablesOf("\nTEST(A, B)\n{\n}\nTEST(A, C)\n{\n}\nint main()\n{", "cpp");
  assert.deepEqual([0, 1, 3, 4, 6, 7, 8].map((line) => testAt(all, line)?.name), [undefined, "A.B", "A.B", "A.C", "A.C", undefined, undefined]);
});

test("what a debugger of native programs starts can be run, too", () => {
  const common = { request: "launch", name: "n", program: "${workspaceFolder}/p", args: ["a", 1], cwd: "/c", preLaunchTask: "build" };
  const wanted = { type: "isoscope", request: "launch", name: "n", program: "${workspaceFolder}/p", args: ["a", "1"], cwd: "/c", preLaunchTask: "build" };
  const env = { A: "1=2", B: "" };
  assert.deepEqual(asOurs({ ...common, type: "cppdbg", environment: [{ name: "A", value: "1=2" }, { name: "B", value: "" }] }), { ...wanted, env });
  assert.deepEqual(asOurs({ ...common, type: "lldb", env }), { ...wanted, env });
  assert.deepEqual(asOurs({ ...common, type: "lldb-dap", env: ["A=1=2", "B"] }), { ...wanted, env });
  for (const other of [{ type: "node" }, { type: "gdb", request: "attach" }, { type: "gdb", program: undefined }])
    assert.equal(asOurs({ ...common, type: "lldb", ...other }), null);
});
