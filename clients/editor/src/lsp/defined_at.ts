// Is a function defined at a line, as far as its text alone tells? For files of which nobody knows what was built: a call that
// looks like a definition would get a lens that is not its own.

/** What stands before the name of a call, and not before that of a definition. */
const OF_CALLS = /[=.!?+%]|->|\b(return|throw|await|new|yield|in|and|or|not|else|if|while|for|case)\b/;
const RETURN_TYPE = /^[\w][\w:*&<>, \t]*$/; // alone on its line, as GNU's style has it

const balanced = (text: string) => text.split("(").length === text.split(")").length;

export function isDefinedAt(lines: readonly string[], at: number, name: string): boolean {
  const text = lines[at] ?? "";
  if (text.trimEnd().endsWith(";")) return false;
  const wanted = new RegExp(`(?<![\\w$~])${name.replace(/[^\w]/g, "\\$&")}\\s*(<[^;]*>)?\\s*\\(`);
  const index = wanted.exec(text)?.index;
  if (index === undefined) return false;
  const before = text.slice(0, index);
  if (before.trim()) return balanced(before) && !OF_CALLS.test(before);
  return before === "" && RETURN_TYPE.test(lines[at - 1] ?? "");
}
