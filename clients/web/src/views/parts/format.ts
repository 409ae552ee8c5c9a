// Numbers and names as people read them.
import type { ProcessInfo } from "../../wire/service";

const FEW = 30; // samples: below, a share is a guess

export function grouped(count: number): string {
  return Math.round(count).toLocaleString("en-US");
}

/** of: what the share is of, in samples. */
export function percent(part: number, of: number, samples = Infinity): string {
  if (!of) return "–";
  const value = (100 * part) / of;
  const digits = value >= 99.95 ? 0 : 1;
  return `${samples < FEW ? "~" : ""}${value.toFixed(digits)} %`;
}

export function duration(ns: number): string {
  if (ns >= 60e9) {
    const seconds = Math.floor(ns / 1e9);
    const rest = String(seconds % 60).padStart(2, "0");
    return `${Math.floor(seconds / 60)}:${rest} min`;
  }
  if (ns >= 1e9) return `${(ns / 1e9).toFixed(2)} s`;
  if (ns >= 1e6) return `${(ns / 1e6).toFixed(1)} ms`;
  return `${(ns / 1e3).toFixed(0)} µs`;
}

/** Bytes, as the commands write them. */
export function size(bytes: number): string {
  if (bytes < 1024) return `${grouped(bytes)} B`;
  let unit = -1;
  for (; bytes >= 1024 && unit < 3; unit++) bytes /= 1024;
  return `${bytes.toFixed(1)} ${["KiB", "MiB", "GiB", "TiB"][unit]}`;
}

export function clock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number) => String(value).padStart(2, "0");
  return [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
    .map(two)
    .join(":");
}

export function periodText(period_us: number): string {
  const hertz = 1e6 / period_us;
  return hertz >= 1000 ? `${+(hertz / 1000).toFixed(2)} kHz` : `${+hertz.toFixed(1)} Hz`;
}

/** How a program ended, and when; of several processes the one whose end isoscope was told. */
export function ending(processes: ProcessInfo[]): string {
  const main = processes.find(({ exit }) => exit);
  const { status, signal, core } = main?.exit ?? {};
  const how = signal
    ? `was ended by ${signal}${core ? " (core dumped)" : ""}`
    : `ended${status === undefined ? "" : ` with status ${status}`}`;
  const endMs = main?.endMs ?? Math.max(...processes.map((one) => one.endMs));
  return `${how} at ${new Date(endMs).toLocaleTimeString()}`;
}
