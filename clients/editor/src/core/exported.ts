// What a service or a file has, as a file for other tools: the command `isoscope export`.
import { execFile } from "node:child_process";
import { isUri } from "./address";
import { isoscopeCommand } from "./children";
import { Problem } from "./problem";

const PATIENCE_MS = 120_000;

export interface Export {
  source: string; // the service's address, or a profile's file
  file: string;
  format?: string; // "": what the file's name ends with
  window_s?: [number, number]; // since the first sample
}

/** The files that it made: of a format with a file for each thread there may be several. Throws a Problem with what isoscope said. */
export function exported({ source, file, format = "", window_s }: Export): Promise<string[]> {
  const window = window_s ? ["--from", String(window_s[0]), "--to", String(window_s[1])] : [];
  const isService = isUri(source);
  const from = isService ? [] : [source.startsWith("-") ? `./${source}` : source];
  const words = ["export", "-o", file, ...window, ...(format ? [format] : []), ...from];
  const env = { ...process.env, ...(isService && { ISOSCOPE_URI: source }) }; // its token is in no list of processes
  return new Promise((resolve, reject) => {
    execFile(isoscopeCommand(), words, { env, timeout: PATIENCE_MS }, (error, _stdout, stderr) => {
      if (error) reject(new Problem(stderr.trim().replace(/^isoscope: /, "") || error.message));
      else resolve(madeIn(stderr));
    });
  });
}

const madeIn = (said: string) => [...said.matchAll(/^isoscope: wrote (.*?)(?:, [\d,]+ bytes)?$/gm)].map(([, file]) => file);
