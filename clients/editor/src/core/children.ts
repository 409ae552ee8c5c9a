// Commands of isoscope that run for as long as somebody reads what they serve.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { uriInFile } from "./address";
import { Problem } from "./problem";

const LOOK_MS = 20;
const PATIENCE_MS = 60_000; // a large session is read first
const ASK_MS = 500; // a signal is the program's while it runs, and then isoscope's: it is asked again
const END_MS = 12_000; // a service that is asked to end has ten seconds
const WORDS_MOST = 2000;
const NAME = "isoscope: ";

export interface Served {
  uri: string;
  /** The status of the command, once it has ended; null: a signal ended it. */
  ended: Promise<number | null>;
  end(): Promise<void>;
}

export interface Start {
  words: string[]; // of isoscope
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** It ends with us, also where we are killed: of `serve`, whose standard input is a pipe of ours then. */
  isOurs?: boolean;
  /** What the program writes. */
  output?(text: string): void;
}

/** The command `isoscope`: it starts us, and says where it is. */
export const isoscopeCommand = () => process.env.ISOSCOPE_COMMAND || "isoscope";

/** Throws a Problem with what isoscope said. */
export async function started({ words, cwd, env = {}, isOurs = false, output }: Start): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), "isoscope-"));
  const info = join(folder, "service.json");
  const [word, ...rest] = words;
  const tied = isOurs ? ["--end-with-input"] : [];
  const child = spawn(isoscopeCommand(), [word, "--write-service-info", info, ...tied, ...rest], {
    ...(cwd && { cwd }),
    env: { ...process.env, ...env },
    stdio: [isOurs ? "pipe" : "ignore", "pipe", "pipe"],
    detached: true, // a group of its own: it ends with what it started
  });
  const said = wordsOf(child, output);
  const ended = endOf(child);
  const end = () => endChild(child, ended);
  const onExit = () => {
    child.kill("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", onExit);
  void ended.then(() => {
    process.off("exit", onExit);
    rmSync(folder, { recursive: true, force: true });
  });
  const uri = await appeared(info, child, said);
  if (uri) return { uri, ended, end };
  await end();
  throw new Problem(said() || `isoscope ${word} did not begin to serve`);
}

/** Its last words on stderr; output hears all of them, and what the program writes. */
function wordsOf(child: ChildProcess, output?: (text: string) => void): () => string {
  let words = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => output?.(text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    words = (words + text).slice(-WORDS_MOST);
    output?.(text);
  });
  child.on("error", ({ message }) => (words = `${isoscopeCommand()} cannot be started: ${message}`));
  return () => (words.trim().split("\n").find((line) => line.startsWith(NAME)) ?? words.trim()).replace(NAME, "");
}

function endOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.on("error", () => resolve(null));
    child.on("close", (status) => resolve(status));
  });
}

async function appeared(info: string, child: ChildProcess, said: () => string): Promise<string | null> {
  const deadline = Date.now() + PATIENCE_MS;
  for (let over = false; !over && Date.now() < deadline; ) {
    over = child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
    if (existsSync(info)) return uriInFile(info);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  if (child.exitCode === null && child.signalCode === null && said() === "") return null;
  await new Promise((resolve) => setTimeout(resolve, LOOK_MS)); // its last words
  return null;
}

async function endChild(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const deadline = Date.now() + END_MS;
  child.kill("SIGTERM");
  const timer = setInterval(() => child.kill(Date.now() < deadline ? "SIGTERM" : "SIGKILL"), ASK_MS);
  await ended;
  clearInterval(timer);
}
