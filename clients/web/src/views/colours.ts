// One hue a library, everywhere the same; grey for the system's.
import { computed, signal } from "@preact/signals";
import type { Pixel } from "./box_pixels";

// The worker runs this file as well, and has no screen.
const dark = globalThis.matchMedia?.("(prefers-color-scheme: dark)");
const systemIsDark = signal(dark?.matches ?? false);
dark?.addEventListener("change", () => (systemIsDark.value = dark.matches));

/** "": as the system is. */
export const theme = signal<"" | "light" | "dark">("");
export const isDark = computed(() => (theme.value ? theme.value === "dark" : systemIsDark.value));

// Neighbours on the wheel differ in lightness too, for those who do not see the hues apart.
const HUES = [250, 75, 155, 25, 300, 110, 210, 50, 335, 130, 275, 185];
const STEP = [0, -0.06, 0.05];

function hash(text: string): number {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  return (h ^ (h >>> 15)) >>> 0;
}

/** selfShare: of what it weighs here, 0 to 1: the more, the stronger. */
export function fill(library: string, system: boolean, selfShare = 0): string {
  const step = Math.round(selfShare * 3) / 3;
  const light = isDark.value ? 0.42 + 0.1 * step : 0.86 - 0.12 * step;
  if (system) return `oklch(${light + (isDark.value ? -0.06 : 0.03)} 0.006 250)`;
  const number = hash(library) % HUES.length;
  const chroma = (isDark.value ? 0.075 : 0.08) + 0.03 * step;
  return `oklch(${light + (STEP[number % 3] ?? 0)} ${chroma} ${HUES[number]})`;
}

export interface Ink {
  text: string;
  faint: string;
  line: string;
  paper: string;
  hit: string;
  pick: string;
  hatch: string;
  states: string[]; // from running to asleep: readable in greys alone
}

export const ink = computed<Ink>(() =>
  isDark.value
    ? {
        text: "#e6e8eb",
        faint: "#8b929b",
        line: "#2d3238",
        paper: "#16191d",
        hit: "#e5b63c",
        pick: "#ffffff",
        hatch: "#5b626b",
        states: ["#7fb2ff", "#4e86d8", "#b0763f", "#7a5730", "#363b42"],
      }
    : {
        text: "#1b1f24",
        faint: "#6a727c",
        line: "#d9dde2",
        paper: "#ffffff",
        hit: "#f0b400",
        pick: "#000000",
        hatch: "#a9b0b9",
        states: ["#1f5fbf", "#5b93e0", "#b06a1f", "#dba266", "#ccd3da"],
      },
);

const pixels = new Map<string, Pixel>();
let one: CanvasRenderingContext2D | null = null;

/** A CSS colour, whatever way it is written, as pixels have it. In the page only. */
export function pixelOf(colour: string): Pixel {
  let pixel = pixels.get(colour);
  if (pixel === undefined) {
    one ??= document.createElement("canvas").getContext("2d", { willReadFrequently: true })!;
    one.clearRect(0, 0, 1, 1);
    one.fillStyle = colour;
    one.fillRect(0, 0, 1, 1);
    pixel = new Uint32Array(one.getImageData(0, 0, 1, 1).data.buffer)[0];
    pixels.set(colour, pixel);
  }
  return pixel;
}
