// Is a source file still what the sampled program was built of?
//
//   the module here has the sampled build id     the file is older than the module
//   it has another one, or is gone               the file is older than the sampled process
import { statSync } from "node:fs";
import { buildIdOf } from "./build_id";
import type { LiveProfile } from "./live_profile";

const GRAIN_MS = 10; // of file systems' clocks

export interface Freshness {
  isStale: boolean;
  why: string; // for people; "": it is not stale
  mtime_ms: number; // of the file; 0: it is gone
}

export class Freshnesses {
  #modules = new Map<string, { mtime_ms: number; id: string }>();

  /** file: as it lies here. modulePath: of the function or line that is asked about. */
  of(profile: LiveProfile, file: string, modulePath: string): Freshness {
    const mtime_ms = modified(file);
    const built_ms = this.#built(profile, modulePath);
    if (!mtime_ms) return { isStale: true, why: "the file is gone", mtime_ms };
    if (!built_ms || mtime_ms <= built_ms + GRAIN_MS) return { isStale: false, why: "", mtime_ms };
    return { isStale: true, why: "the file changed after the program that was sampled was built", mtime_ms };
  }

  /** A file that is older than this is what was built; 0: nothing is known. */
  #built(profile: LiveProfile, modulePath: string): number {
    const sampled = profile.buildIds.get(modulePath) ?? "";
    const starts = (profile.info?.processes ?? []).map(({ startMs }) => startMs).filter(Boolean);
    const started_ms = starts.length ? Math.min(...starts) : 0;
    const mtime_ms = sampled ? modified(modulePath) : 0;
    return mtime_ms && this.#idOf(modulePath, mtime_ms) === sampled ? mtime_ms : started_ms;
  }

  #idOf(path: string, mtime_ms: number): string {
    const known = this.#modules.get(path);
    if (known && known.mtime_ms === mtime_ms) return known.id;
    const id = buildIdOf(path);
    this.#modules.set(path, { mtime_ms, id });
    return id;
  }
}

/** 0: there is no such file. */
function modified(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
