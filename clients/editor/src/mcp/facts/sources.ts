// Which profiles there are: those named on the command line, services that are found, sessions in the project.
//
// An assistant says which by an id of this list. It can name no address and no path of its own: what it read in a
// profile may have told it to.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { baseOf, isUri, nameOf, uriInFile } from "../../core/address";
import { type Found, findServices } from "../../core/find";
import { Problem } from "../../core/problem";

export interface Source {
  id: string;
  kind: "service" | "session";
  where: string; // a service's address, with its token: for nobody else; a session's path
}

/** A service, asked whether it is there. "": it answers. */
export interface Listed extends Source {
  trouble: string;
}

const SESSION = ".isoscope";
const FILES_MOST = 2000;
const PATIENCE_MS = 2000;

export class Sources {
  /** given: URIs, info files, sessions. roots: folders that are looked into when nothing is given. */
  constructor(
    private readonly given: readonly string[],
    private readonly roots: readonly string[],
  ) {}

  /** Each id once. Looked for anew each time: services come and go. */
  list(): Source[] {
    const all = this.given.length
      ? this.given.map(sourceOf)
      : [
          ...findServices(this.roots)
            .filter((one) => isNear(one) && isSomebodys(one))
            .map((one) => this.#service(one)),
          ...this.roots.flatMap((root) => this.#sessions(root)),
        ];
    const byId = new Map<string, Source>();
    for (const one of all) if (!byId.has(one.id)) byId.set(one.id, one);
    return [...byId.values()];
  }

  /** With what is wrong with each. */
  probed(): Promise<Listed[]> {
    return Promise.all(this.list().map(async (one) => ({ ...one, trouble: await troubleOf(one) })));
  }

  /** Without an id: the only one there is, or the only service that answers. Throws a Problem that names the choice. */
  async pick(id?: string): Promise<Source> {
    const all = this.list();
    if (id !== undefined) {
      const found = all.find((one) => one.id === id);
      if (found) return found;
      throw new Problem(`source: there is none with this id; ${choice(all)}`);
    }
    if (all.length === 1) return all[0];
    const services = (await this.probed()).filter(({ kind, trouble }) => kind === "service" && !trouble);
    if (services.length === 1) return services[0];
    if (!all.length)
      throw new Problem(
        "there is no profile: start a program with `isoscope run --write-service-info isoscope.json -- PROGRAM` in the " +
          "project, record one with `isoscope record -- PROGRAM`, or name a source behind `isoscope mcp`",
      );
    throw new Problem(`several profiles are there: say which by \`source\`; ${choice(all)}`);
  }

  #service({ base, told }: Found): Source {
    const root = this.roots.find((one) => told.startsWith(`${one}/`));
    return { id: root ? relative(this.roots[0], told) : told, kind: "service", where: base };
  }

  #sessions(root: string): Source[] {
    return [root, join(root, SESSION)].flatMap((folder) => {
      const names = namesIn(folder).filter((name) => name.endsWith(SESSION) && name !== SESSION);
      return names.map((name) => sessionAt(join(folder, name), relative(this.roots[0], join(folder, name))));
    });
  }
}

function sourceOf(word: string): Source {
  if (isUri(word)) return { id: nameOf(baseOf(word)), kind: "service", where: baseOf(word) };
  const uri = uriInFile(word);
  return uri ? { id: word, kind: "service", where: baseOf(uri) } : sessionAt(word, word);
}

/** A file in a project may come from anywhere: nobody far away is asked because of one. */
const isNear = ({ base, told }: Found) =>
  told === "$ISOSCOPE_URI" || /^(127(\.\d+){3}|localhost|\[::1\])$/.test(new URL(base).hostname);

/** Not a session that one of us has open: `isoscope serve` with an info file that is nobody else's business. */
function isSomebodys({ told }: Found): boolean {
  const [, pid] = /^process (\d+)$/.exec(told) ?? [];
  if (!pid) return true;
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return words[1] !== "serve" || !words.some((word) => word.startsWith(join(tmpdir(), "isoscope-")));
  } catch {
    return false; // it has just ended
  }
}

const sessionAt = (path: string, id: string): Source => ({ id, kind: "session", where: path });

function namesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder);
    return names.length > FILES_MOST ? [] : names.sort();
  } catch {
    return [];
  }
}

function choice(all: readonly Source[]): string {
  const ids = all.slice(0, 20).map(({ id, kind }) => `${JSON.stringify(id)} (${kind})`);
  return ids.length ? `there are: ${ids.join(", ")}` : "there is none at all";
}

async function troubleOf({ kind, where }: Source): Promise<string> {
  if (kind === "session") return existsSync(where) ? "" : "the file is gone";
  try {
    const answer = await fetch(`${where}getVersion`, { signal: AbortSignal.timeout(PATIENCE_MS) });
    await answer.arrayBuffer();
    if (answer.ok) return "";
    return answer.status === 403
      ? "it refuses this token: another run has another one"
      : `it answers with status ${answer.status}`;
  } catch {
    return "it does not answer: its program has ended";
  }
}
