// Names of functions made to fit: what tells them apart least goes first.
//
//   parameters and return type -> template arguments -> leading namespaces -> the left end
//
// A closure keeps the function that it stands in. tests/labels/cases.json has the rule's cases; the Python
// client follows them too (text/short_name.py).

type Token = { kind: "group" | "sep" | "operator" | "text"; text: string };

const PARTS_MOST = 32; // of a name; what is before them is dropped at once
const DEPTH_MOST = 8; // of types inside types
const CLOSERS: Record<string, string> = { "(": ")", "[": "]", "{": "}", "<": ">" };

// What compilers add to a name: clones, ABI tags, hashes.
const ADDED =
  / \[[a-z][^\]]*\]|\[abi:[^\]]*\]|(?:\.(?:part|constprop|isra|cold|lto_priv|llvm)(?:\.\d+)*)+$|::h[0-9a-f]{16}$/g;
const OPERATOR =
  /operator(?:\(\)|\[\]|->\*?|<=>|<<=?|>>=?|[<>]=?|[-+*/%^&|~!=,]+| (?:new|delete)(?:\[\])?| ?"" ?\w+| [^(<][^(]*)(?: (?=<))?/y;
const WORD = /\w+/y;
const QUALIFIERS = /^(?: (?:const|volatile|noexcept|&&?))+/;
const CLOSURE = /^(?:\{.*\}|'lambda.*|\$_\d+|func\d+|gowrap\d+|\d+|__(?:func|dg)?(?:lambda|literal).*)$/s;
const LAMBDA_CALL = /((?:^|::)(?:\{lambda[^{}]*\}|'lambda[^']*'|\$_\d+))::operator\(\)$/;
const INSIDE = /\.<locals>\.|(?:^|\.)<\w+>$/; // a function, a lambda and so on inside of a Python function
const PYTHON = /^py::(.+):(?:.*\/)?([^/:]*)$/;

/** Behind the bracket that belongs to the one at i; 0: there is none. */
function closed(text: string, i: number): number {
  const [open, close] = [text[i], CLOSERS[text[i]]];
  let depth = 0;
  for (; i < text.length; i++) {
    if (text[i] === open) depth++;
    else if (text[i] === close && !(close === ">" && "-=".includes(text[i - 1])) && !--depth) return i + 1;
    else if (open === "<" && text[i] === "(") {
      const end = closed(text, i);
      if (!end) return 0;
      i = end - 1;
    }
  }
  return 0;
}

/** null: its brackets do not match. */
function tokens(text: string, sep: string): Token[] | null {
  const list: Token[] = [];
  for (let i = 0; i < text.length;) {
    let kind: Token["kind"] = "text";
    let end = i + 1;
    OPERATOR.lastIndex = WORD.lastIndex = i;
    const word = WORD.exec(text)?.[0]; // from its begin on: words are taken whole
    if (text.startsWith(sep, i)) [kind, end] = ["sep", i + sep.length];
    else if (word?.startsWith("operator") && OPERATOR.test(text))
      [kind, end] = ["operator", OPERATOR.lastIndex];
    else if (word) end = i + word.length;
    else if (text[i] in CLOSERS) [kind, end] = ["group", closed(text, i)];
    if (!end) return null;
    const part = text.slice(i, end);
    const last = list[list.length - 1];
    if (kind === "text" && last?.kind === "text") last.text += part;
    else list.push({ kind, text: part });
    i = end;
  }
  return list;
}

const joined = (list: Token[]) => list.map(({ text }) => text).join("");

/** What a bracket may belong to. */
function isName(token: Token | undefined): boolean {
  return (
    token !== undefined &&
    (token.kind === "group" || token.kind === "operator" || (token.kind === "text" && /[^\s*&(!]$/.test(token.text)))
  );
}

function withoutParameters(list: Token[]): Token[] {
  const kept: Token[] = [];
  let before: Token | undefined;
  let dropped = false; // just now
  let called = false; // it is a signature
  for (let { kind, text } of list) {
    const token = { kind, text };
    if (kind === "group" && text[0] === "(" && isName(before) && before!.kind !== "sep") {
      dropped = called = true;
      continue;
    }
    if (dropped && kind === "text") token.text = text.replace(QUALIFIERS, "");
    if (kind === "group" && text[0] === "{") token.text = text.replace(/\(.*\)/s, "");
    if (kind === "group" && text.startsWith("<lambda")) token.text = "{lambda}"; // GCC's debug data
    dropped = false;
    before = token;
    if (token.text) kept.push(token);
  }
  if (!called) return kept;
  for (let i = kept.length - 1; i >= 0; i--) {
    const { kind, text } = kept[i];
    const space = kind === "text" ? text.lastIndexOf(" ") : -1;
    if (space < 0) continue;
    const rest = text.slice(space + 1);
    return [...(rest ? [{ kind, text: rest }] : []), ...kept.slice(i + 1)];
  }
  return kept;
}

function withoutTemplates(list: Token[], sep: string, depth: number): Token[] {
  const kept: Token[] = [];
  for (const token of list) {
    const { kind, text } = token;
    const before = kept[kept.length - 1];
    if (kind !== "group" || text[0] === "{") kept.push(token);
    else if (text === "(anonymous namespace)") continue;
    else if (text[0] === "(") {
      if (before?.text.endsWith("!")) before.text = before.text.slice(0, -1);
      else kept.push(token);
    } else if (isName(before)) continue;
    else if (text[0] === "<" && before?.kind === "sep" && !text.startsWith("<impl ")) kept.pop();
    else kept.push({ kind, text: text[0] === "<" ? `<${plainTypes(text, sep, depth)}>` : text });
  }
  // Of what went, its separators go too.
  return kept.filter(
    ({ kind }, i) => kind !== "sep" || (i > 0 && kept[i - 1].kind !== "sep" && i + 1 < kept.length),
  );
}

/** `<A as B>`: both without their arguments. */
function plainTypes(group: string, sep: string, depth: number): string {
  return typesOf(group)
    .map((type) => {
      const list = depth < DEPTH_MOST ? tokens(type, sep) : null;
      return list ? joined(withoutTemplates(list, sep, depth + 1)) : type;
    })
    .join(" as ");
}

/** `<A as B>` -> A, B */
function typesOf(group: string): string[] {
  const inside = group.slice(1, -1);
  for (let i = 0; i < inside.length; i++) {
    if (inside.startsWith(" as ", i)) return [inside.slice(0, i), inside.slice(i + 4)];
    if (!(inside[i] in CLOSERS)) continue;
    const end = closed(inside, i);
    if (!end) break;
    i = end - 1;
  }
  return [inside];
}

const lastOf = (type: string) => type.slice(type.lastIndexOf(":") + 1);

function partsOf(list: Token[]): string[] {
  const parts = [""];
  for (const { kind, text } of list)
    if (kind === "sep") parts.push("");
    else parts[parts.length - 1] += text;
  return parts;
}

/** Names of Go and D have dots where C++ and Rust have colons; so have files, which are no names. */
function separator(name: string): string {
  if (name.includes("::")) return "::";
  const isDotted = !/[ @]|\+0x[\da-f]+$/.test(name) && !/\.(?![\p{L}_(*$~{\d])/u.test(name);
  return isDotted ? "." : "::";
}

/** Without parameters and return type, and what compilers add. */
export function plainName(name: string): string {
  const plain = name.replace(ADDED, "") || name;
  const list = tokens(plain, separator(plain));
  return list ? joined(withoutParameters(list)) : plain;
}

/** What has no name of its own keeps the function that it stands in. */
function insideForms(name: string): string[] {
  const parts = name.replaceAll(".<locals>", "").split(".").slice(-PARTS_MOST);
  let least = parts.length - 1;
  while (least > 0 && parts[least].startsWith("<")) least--;
  return [...new Set([name, ...parts.slice(0, least + 1).map((_, start) => parts.slice(start).join("."))])];
}

function made(name: string): string[] {
  if (/^\w+$/.test(name)) return [name]; // C
  const python = PYTHON.exec(name);
  if (python) return [name, `${python[1]} (${python[2]})`, python[1]];
  if (/^[-+]?\[/.test(name)) return [name];
  if (INSIDE.test(name)) return insideForms(name);
  const plain = name.replace(ADDED, "") || name;
  const sep = separator(plain);
  const list = tokens(plain, sep);
  if (!list) return [name];
  const uncalled = withoutParameters(list);
  const short = joined(uncalled).replace(LAMBDA_CALL, "$1");
  let rest = joined(withoutTemplates(tokens(short, sep) ?? uncalled, sep, 0));
  rest = sep === "." ? rest.replace(/!\w+/g, "") : rest.trim().replace(LAMBDA_CALL, "$1");
  const forms = [name, short, rest];
  if (sep === ".") forms.push((rest = rest.replace(/^[^ ([{<]*\//, "")));
  let parts = partsOf(tokens(rest, sep) ?? []).slice(-PARTS_MOST);
  if (/^<.*>$/s.test(parts[0] ?? "") && parts.length > 1) {
    const types = typesOf(parts[0]).map(lastOf);
    if (types.length > 1) forms.push([`<${types.join(" as ")}>`, ...parts.slice(1)].join(sep));
    parts = [types[0], ...parts.slice(1)];
    forms.push(parts.join(sep));
  }
  let least = parts.length - 1;
  while (least > 0 && CLOSURE.test(parts[least])) least--;
  for (let from = 1; from <= least; from++) forms.push(parts.slice(from).join(sep));
  return forms.filter((form, i) => form && form !== forms[i - 1]);
}

const known = new Map<string, string[]>();
const KNOWN_MOST = 50_000;

/** The name and what is left of it, longest first. */
export function nameForms(name: string): readonly string[] {
  let forms = known.get(name);
  if (!forms) {
    if (known.size >= KNOWN_MOST) known.clear();
    known.set(name, (forms = made(name)));
  }
  return forms;
}

/** As much of a name as so many characters have room for; "": they have none. */
export function shortName(name: string, characters: number): string {
  if (name.length <= characters) return name;
  const forms = nameForms(name);
  const least = forms[forms.length - 1];
  const fits = forms.find(({ length }) => length <= characters);
  return fits ?? (characters < 3 ? "" : `…${least.slice(1 - characters)}`);
}
