// What a file defines that can be run by itself: main, and tests of C++'s frameworks, with the words by which their program
// runs them alone.

export interface Runnable {
  line: number; // from 0 on
  name: string;
  /** Of the program; null: it is all of the program. */
  args: string[] | null;
}

const BLOCK_COMMENT = /\/\*[\s\S]*?\*\//g;
const C_LIKE = ["c", "cpp", "d"];

/** The first line of a definition: a declaration's ends with a semicolon, and so does a call's. */
const MAINS: Record<string, RegExp> = {
  c: /^\s*(?:(?:extern\s+"C"|static|int|void|auto)\s+)*main\s*\((?![^{]*;)/,
  rust: /^\s*(?:pub\s+)?(?:async\s+)?fn\s+main\s*\(/,
  go: /^func\s+main\s*\(\s*\)/,
  zig: /^\s*pub\s+fn\s+main\s*\(/,
  fortran: /^\s*program\s+[a-z]\w*\s*(?:!.*)?$/i,
};
for (const language of C_LIKE) MAINS[language] = MAINS.c;

export const LANGUAGES = Object.keys(MAINS);

const GOOGLE = /^\s*(TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)/;
const CASE = /^\s*(TEST_CASE|SCENARIO)\s*\(\s*"((?:[^"\\]|\\.)*)"/; // of Catch2 and of doctest
const BOOST = /^\s*BOOST_(?:AUTO|FIXTURE|DATA)_TEST_CASE\s*\(\s*(\w+)/;
const BOOST_SUITE = /^\s*BOOST_(?:AUTO|FIXTURE)_TEST_SUITE\s*\(\s*(\w+)/;
const BOOST_END = /^\s*BOOST_AUTO_TEST_SUITE_END\s*\(/;

export function runnablesOf(text: string, language: string): Runnable[] {
  const main = MAINS[language];
  if (!main) return [];
  const isC = C_LIKE.includes(language);
  const blanked = isC ? text.replace(BLOCK_COMMENT, (comment) => comment.replace(/[^\n]/g, " ")) : text;
  const tests = language === "cpp" ? new Tests(/doctest/.test(text)) : null;
  return blanked.split("\n").flatMap((source, line) => {
    if (main.test(source)) return [{ line, name: "main", args: null }];
    const test = tests?.on(source);
    return test ? [{ line, ...test }] : [];
  });
}

/** Lines of a file, one after another. */
class Tests {
  #suites: string[] = []; // of Boost.Test, around this line

  constructor(private readonly isDoctest: boolean) {}

  on(line: string): Omit<Runnable, "line"> | null {
    const suite = BOOST_SUITE.exec(line);
    if (suite) this.#suites.push(suite[1]);
    else if (BOOST_END.test(line)) this.#suites.pop();
    const [, macro = "", group = "", name = ""] = GOOGLE.exec(line) ?? [];
    if (macro) return { name: `${group}.${name}`, args: [`--gtest_filter=${googleFilter(macro, group, name)}`] };
    const [, kind = "", title = ""] = CASE.exec(line) ?? [];
    if (kind) return { name: unquoted(title), args: this.#caseArgs(kind, unquoted(title)) };
    const [, boost = ""] = BOOST.exec(line) ?? [];
    if (!boost) return null;
    const path = [...this.#suites, boost].join("/");
    return { name: path, args: [`--run_test=${path}`] };
  }

  #caseArgs(kind: string, title: string): string[] {
    if (this.isDoctest) return [`--test-case=${kind === "SCENARIO" ? "*Scenario: " : ""}${title.replaceAll(",", "\\,")}`];
    return [(kind === "SCENARIO" ? `Scenario: ${title}` : title).replace(/[\\,[]/g, "\\$&")];
  }
}

/** Tests with parameters or types have the instance's name before theirs, or its number behind. */
function googleFilter(macro: string, group: string, name: string): string {
  if (macro === "TEST_P") return `*${group}.${name}/*`;
  if (macro === "TYPED_TEST") return `${group}/*.${name}`;
  if (macro === "TYPED_TEST_P") return `*${group}/*.${name}`;
  return `${group}.${name}`;
}

const unquoted = (text: string) => text.replace(/\\(.)/g, "$1");

/** The test that a place is in: the last that begins at or before it. */
export function testAt(runnables: readonly Runnable[], line: number): Runnable | undefined {
  const before = runnables.filter((one) => one.line <= line).at(-1);
  return before?.args ? before : undefined;
}
