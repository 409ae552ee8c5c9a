// Files as a program was built, and files as they lie here.
//
//   --source-map FROM=TO     paths that begin with FROM are TO's here; of several the longest FROM counts
import { existsSync, realpathSync } from "node:fs";
import { isAbsolute, join, normalize } from "node:path";
import { Problem } from "./problem";

export interface Mapping {
  from: string;
  to: string;
}

/** Of "FROM=TO". Throws a Problem. */
export function mappingOf(text: string): Mapping {
  const at = text.indexOf("=");
  if (at < 1 || at === text.length - 1) throw new Problem(`--source-map wants FROM=TO, not '${text}'`);
  return { from: normalize(text.slice(0, at)).replace(/\/$/, ""), to: normalize(text.slice(at + 1)).replace(/\/$/, "") };
}

export class SourceMap {
  #real = new Map<string, string>(); // by path
  #local = new Map<string, string | null>(); // by the profile's file
  #mappings: Mapping[];

  /** roots: where files lie whose names are relative. */
  constructor(
    mappings: readonly Mapping[],
    private readonly roots: readonly string[],
  ) {
    this.#mappings = [...mappings].sort((a, b) => b.from.length - a.from.length);
  }

  /** Where a file of the profile lies here, without symlinks; null: nowhere. */
  local(file: string): string | null {
    let path = this.#local.get(file);
    if (path === undefined) {
      path = file ? (this.#candidates(file).find((one) => existsSync(one)) ?? null) : null;
      this.#local.set(file, path && this.real(path));
    }
    return path && this.real(path);
  }

  /** The same file by one name, whatever links lead to it. */
  real(path: string): string {
    let real = this.#real.get(path);
    if (real === undefined) {
      try {
        real = realpathSync(path);
      } catch {
        real = normalize(path);
      }
      this.#real.set(path, real);
    }
    return real;
  }

  #candidates(file: string): string[] {
    const path = normalize(file);
    const mapping = this.#mappings.find(({ from }) => path === from || path.startsWith(`${from}/`));
    if (mapping) return [join(mapping.to, path.slice(mapping.from.length))];
    return isAbsolute(path) ? [path] : this.roots.map((root) => join(root, path));
  }
}
