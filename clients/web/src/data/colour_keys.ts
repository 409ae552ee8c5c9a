// What functions are coloured by, and filtered by: a text for each of them.
import type { FunctionInfo, LibraryInfo } from "./profile";
import { plainName } from "./short_name";

export const COLOURINGS = ["library", "package", "thread", "heat", "kind"] as const;
/** heat: how much a function has itself. */
export type ColourBy = (typeof COLOURINGS)[number];

/** Steps of heat: 0 has nothing itself, the last one as much as the hottest. */
export const HEAT_STEPS = 7;

const KINDS: Record<string, string> = {
  Native: "native",
  Folded: "native",
  Jit: "JIT",
  Interpreted: "interpreted",
  Stub: "stub",
  Unnamed: "without a name",
};

/** The outermost namespace (C++, Rust), the package (Go, D, Java); of what has none, its library: a script's file. */
export function packageOf({ name, runtime }: FunctionInfo, { name: library }: LibraryInfo): string {
  if (runtime && runtime !== "java") return library; // dots part classes from methods there
  if (name.startsWith("py::")) return "Python";
  const plain = plainName(name);
  const java = /^L?((?:[a-z_]\w*[./])+)[A-Z]\w*(?:;?::|\.)/.exec(plain);
  if (java) return java[1].slice(0, -1).replaceAll("/", ".");
  const scoped = /^<*([\w$~]+)::/.exec(plain);
  if (scoped) return scoped[1];
  const dotted = /^((?:[\w.%~-]+\/)*[A-Za-z_]\w*)\.[\p{L}_(*]/u.exec(plain);
  return dotted && !/\+0x/.test(plain) ? dotted[1] : library;
}

/** How the code came to be. */
export function kindOf({ name, kind }: FunctionInfo, { name: library }: LibraryInfo, inlined: number): string {
  if (/^\[?(kernel|vmlinux)/.test(library)) return "kernel";
  if (name.startsWith("py::")) return "interpreted";
  return inlined ? "inlined" : (KINDS[kind] ?? (kind || "native"));
}
