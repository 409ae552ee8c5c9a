// Programs under `isoscope run --keep`, for a page to look at. Only what is started here is ended here.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
const BUILD = resolve(process.env.ISOSCOPE_BUILD ?? join(ROOT, "build"));
const DEADLINE_MS = 180_000; // samples are CPU time, of which a busy machine gives little

/** Python parsing its own library: one thread that is always busy. */
export const busy = (seconds) => [
  "/usr/bin/python3",
  join(ROOT, "examples/stdlib_parse.py"),
  String(seconds),
];
export const workload = (name, ...words) => [join(BUILD, "tests/workloads", name), ...words];

/** The condition's first true value; it may be a promise. */
export async function until(condition, what, everyMs = 20) {
  for (const end = Date.now() + DEADLINE_MS; ;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`${what}: not within ${DEADLINE_MS / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

function isService(pid) {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "isoscope-serve";
  } catch {
    return true; // it has ended
  }
}

export class Service {
  constructor(process, uri, folder) {
    this.process = process;
    this.uri = uri;
    this.folder = folder;
  }

  static of(command, ...options) {
    return Service.#started("ignore", command, options);
  }

  /** step() has the program read a line, and waits for the one that it writes then. */
  static async stepping(command, ...options) {
    const service = await Service.#started(["pipe", "pipe", "ignore"], command, options);
    service.step = () => {
      const done = new Promise((resolve) => service.process.stdout.once("data", resolve));
      service.process.stdin.write("go\n");
      return done;
    };
    return service;
  }

  static async #started(stdio, command, options) {
    const folder = mkdtempSync(join(tmpdir(), "isoscope-page-"));
    const info = join(folder, "service.json");
    const words = [
      "run",
      "--keep",
      "--quiet",
      "--write-service-info",
      info,
      ...options,
      "--",
      ...command,
    ];
    const process = spawn(join(BUILD, "bin/isoscope"), words, { stdio });
    await until(() => {
      if (process.exitCode !== null) throw new Error(`isoscope ended with ${process.exitCode}`);
      return existsSync(info);
    }, "the service");
    return new Service(process, JSON.parse(readFileSync(info, "utf8")).uri, folder);
  }

  /** A session file of the command, and what serves it: there is no program. */
  static async served(command, ...options) {
    const folder = mkdtempSync(join(tmpdir(), "isoscope-page-"));
    const info = join(folder, "service.json"), file = join(folder, "cpu.isoscope");
    const isoscope = join(BUILD, "bin/isoscope");
    const recorded = spawnSync(isoscope, ["record", "-o", file, ...options, "--", ...command], { stdio: "ignore" });
    if (recorded.status !== 0) throw new Error(`isoscope record ended with ${recorded.status}`);
    const words = ["serve", "--quiet", "--write-service-info", info, file];
    const process = spawn(isoscope, words, { stdio: "ignore" });
    await until(() => {
      if (process.exitCode !== null) throw new Error(`isoscope ended with ${process.exitCode}`);
      return existsSync(info);
    }, "the service");
    return new Service(process, JSON.parse(readFileSync(info, "utf8")).uri, folder);
  }

  /** Its program has ended. */
  static async ended(command, ...options) {
    const service = await Service.of(command, ...options);
    try {
      await service.programEnds();
    } catch (error) {
      await service.end();
      throw error;
    }
    return service;
  }

  /** A program that waits, and of which no sample is left: its start may have been seen. */
  static async asleep() {
    const service = await Service.of(["/bin/sleep", "1000"]);
    const wchan = () => readFileSync(`/proc/${service.program()}/wchan`, "utf8");
    const isAsleep = () => /nanosleep/.test(wchan());
    const isolates = async () => (await service.ask("getVM")).isolates;
    await until(async () => (await isolates()).length > 0 && isAsleep(), "the program's sleep");
    const [{ id }] = await isolates();
    await service.ask("clearCpuSamples", { isolateId: id });
    return service;
  }

  /** Over HTTP: what the page is held against. */
  async ask(method, parameters = {}) {
    const response = await fetch(`${this.uri}${method}?${new URLSearchParams(parameters)}`);
    return (await response.json()).result;
  }

  async flag(name) {
    const { flags } = await this.ask("getFlagList");
    return flags.find((one) => one.name === name).valueAsString;
  }

  async programEnds() {
    await until(() => this.#children()[0] || this.#hasBuried(), "the program's start");
    await until(() => !this.#children()[0], "the program's end");
  }

  /** A child of isoscope's has ended, and was waited for: its page faults count as the parent's. */
  #hasBuried() {
    const stat = readFileSync(`/proc/${this.process.pid}/stat`, "utf8");
    const cminflt = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[8];
    return Number(cminflt) > 0;
  }

  /** isoscope's, but for its own service. */
  #children() {
    const pid = this.process.pid;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    return children.map(Number).filter((child) => child && !isService(child));
  }

  /** The program's pid. */
  program() {
    const [pid] = this.#children();
    if (!pid) throw new Error("the program has ended"); // 0 would be our own group
    return pid;
  }

  killProgram() {
    process.kill(this.program(), "SIGKILL");
  }

  /** The service, and the program with it. */
  async end() {
    const { process: own, folder } = this;
    if (own.exitCode === null && own.signalCode === null) {
      try {
        this.killProgram();
        await this.programEnds();
      } catch {
        // it had ended before
      }
      own.kill("SIGTERM");
      await until(() => own.exitCode !== null || own.signalCode !== null, "isoscope's end");
    }
    rmSync(folder, { recursive: true, force: true });
  }
}

export function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
