// Services that run: those that $ISOSCOPE_URI, a file in the project or a running `isoscope` tells of.
//
// No service is asked anything here; one that a file tells of may be gone.
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { baseOf, isUri, uriInFile } from "./address";

export interface Found {
  base: string; // its address
  told: string; // by what: for people who choose among several
  time_ms: number; // when that was written; 0: not known
}

const FILES_MOST = 2000; // of a folder: beyond, it is nobody's place for such a file
const FOLDERS = [".", ".isoscope"]; // of a project

/** Each once, the newest first. roots: the folders of the project, without symlinks. */
export function findServices(roots: readonly string[], environment: NodeJS.ProcessEnv = process.env): Found[] {
  const found = new Map<string, Found>();
  const all = [...inEnvironment(environment), ...roots.flatMap(inProject), ...ofProcesses(roots)];
  for (const one of all) if (!found.has(one.base)) found.set(one.base, one);
  return [...found.values()].sort((a, b) => b.time_ms - a.time_ms);
}

function inEnvironment({ ISOSCOPE_URI: text }: NodeJS.ProcessEnv): Found[] {
  if (!text) return [];
  return isUri(text) ? as(text, "$ISOSCOPE_URI", Infinity) : inFile(text, "$ISOSCOPE_URI");
}

function inProject(root: string): Found[] {
  return FOLDERS.flatMap((folder) => {
    const names = namesIn(join(root, folder)).filter((name) => name.endsWith(".json"));
    return names.flatMap((name) => inFile(join(root, folder, name), join(folder, name)));
  });
}

/** What commands that run in the project were told to write: `isoscope run --write-service-info FILE`. */
function ofProcesses(roots: readonly string[]): Found[] {
  return namesIn("/proc", Infinity)
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const file = infoFileOf(`/proc/${pid}`, roots);
      return file ? inFile(file, `process ${pid}`) : [];
    });
}

function infoFileOf(folder: string, roots: readonly string[]): string | null {
  try {
    const words = readFileSync(`${folder}/cmdline`, "utf8").split("\0");
    if (basename(words[0]) !== "isoscope") return null;
    const option = "--write-service-info";
    const at = words.findIndex((word) => word === option || word.startsWith(`${option}=`));
    const file = at < 0 ? "" : words[at] === option ? words[at + 1] : words[at].slice(option.length + 1);
    const cwd = readlinkSync(`${folder}/cwd`);
    const isHere = roots.some((root) => cwd === root || cwd.startsWith(`${root}/`));
    return file && isHere ? resolve(cwd, file) : null;
  } catch {
    return null; // it is another user's, or gone
  }
}

function inFile(path: string, told: string): Found[] {
  const uri = uriInFile(path);
  return uri ? as(uri, told, statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) : [];
}

function as(uri: string, told: string, time_ms: number): Found[] {
  try {
    return [{ base: baseOf(uri), told, time_ms }];
  } catch {
    return []; // nothing that can be connected to
  }
}

function namesIn(folder: string, most = FILES_MOST): string[] {
  try {
    const names = readdirSync(folder);
    return names.length > most ? [] : names;
  } catch {
    return [];
  }
}
