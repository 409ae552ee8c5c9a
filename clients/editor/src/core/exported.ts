// What a service has, as a file for other tools: the command `isoscope export`.
import { execFile } from "node:child_process";
import { isoscopeCommand } from "./children";
import { Problem } from "./problem";

const PATIENCE_MS = 120_000;

export interface Export {
  base: string; // of the service
  file: string;
  format?: string; // "": what the file's name ends with
  window_s?: [number, number]; // since the first sample
}

/** Throws a Problem with what isoscope said. */
export function exported({ base, file, format = "", window_s }: Export): Promise<void> {
  const window = window_s ? ["--from", String(window_s[0]), "--to", String(window_s[1])] : [];
  const words = ["export", "-o", file, ...window, ...(format ? [format] : [])];
  const env = { ...process.env, ISOSCOPE_URI: base }; // its token is in no list of processes
  return new Promise((resolve, reject) => {
    execFile(isoscopeCommand(), words, { env, timeout: PATIENCE_MS }, (error, _stdout, stderr) => {
      if (error) reject(new Problem(stderr.trim().replace(/^isoscope: /, "") || error.message));
      else resolve();
    });
  });
}
