// Colours: of libraries and whatever else boxes stand for, everywhere the same; and those of the page.
import { computed, signal } from "@preact/signals";
import type { ColourBy } from "../../data/colour_keys";
import { PALETTE, SELF_STEPS, shaded } from "../../data/shades";

// The worker runs this file as well, and has no screen.
const dark = globalThis.matchMedia?.("(prefers-color-scheme: dark)");
const systemIsDark = signal(dark?.matches ?? false);
dark?.addEventListener("change", () => (systemIsDark.value = dark.matches));

/** "": as the system is. */
export const theme = signal<"" | "light" | "dark">("");
export const isDark = computed(() => (theme.value ? theme.value === "dark" : systemIsDark.value));

// From nothing to the hottest: darker and darker, so that it is one order for everybody.
const HEAT = "#e6e5df #fbeec0 #fddc8a #fdc05a #f89c3c #ec7524 #de5f26".split(" ");
const DIMMED = 0.84; // of the light that colours have on dark paper

/** slot: a number of the palette. name, step: as in shades.ts. */
export function fill(slot: number, by: ColourBy, name = "", step = SELF_STEPS): string {
  const isHeat = by === "heat";
  const colour = isHeat ? HEAT[Math.min(slot, HEAT.length - 1)] : PALETTE[slot];
  return shaded(colour, isHeat ? "" : name, step, isDark.value ? DIMMED : 1);
}

/** Of letters on them. */
export const BOX_TEXT = "#14171a";

export interface Ink {
  text: string;
  faint: string;
  line: string;
  paper: string;
  hit: string;
  pick: string;
  hatch: string;
  before: string; // what is compared with
  states: string[]; // from running to asleep: readable in greys alone
}

export const ink = computed<Ink>(() =>
  isDark.value
    ? {
        text: "#e6e8eb",
        faint: "#8b929b",
        line: "#2d3238",
        paper: "#16191d",
        hit: "#d36bff",
        pick: "#ffffff",
        hatch: "#5b626b",
        before: "#5cc98f",
        states: ["#7fb2ff", "#a6e3b8", "#4e86d8", "#c8616f", "#b0763f", "#7a5730", "#363b42"],
      }
    : {
        text: "#1b1f24",
        faint: "#6a727c",
        line: "#d9dde2",
        paper: "#ffffff",
        hit: "#c04df0",
        pick: "#000000",
        hatch: "#a9b0b9",
        before: "#1a8553",
        states: ["#1f5fbf", "#145c38", "#5b93e0", "#b53a4c", "#b06a1f", "#dba266", "#ccd3da"],
      },
);

// In the order of the palette; what the service may add later is drawn as the last.
export const STATES = ["Running", "GilHeld", "Runnable", "GilWait", "Lock", "IO", "Sleep"];

const STATE_WORDS: Record<string, string> = {
  GilHeld: "Running with the GIL",
  GilWait: "Waiting for the GIL",
};
export const stateWord = (state: string) => STATE_WORDS[state] ?? state;

export function stateColour(state: string, ink: Ink): string {
  const place = STATES.indexOf(state);
  return ink.states[place < 0 ? STATES.length - 1 : place];
}

/** A colour as a canvas has it in memory, little endian: 0xAABBGGRR. 0: nothing is there. */
export type Pixel = number;

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
