// What tells this tab from others: the program and whether it is recorded, as title and icon.
import { effect } from "@preact/signals";
import { shownName, standing } from "../../state/standing";

const DOT = { recording: "#d33f49", paused: "#e0a100", disconnected: "#e0a100" } as const;

/** A flame graph, and a dot while something is to be told. */
function icon(dot: string | undefined): string {
  const bars = "<path d='M0 1h16v4H0zM2 6h12v4H2zM2 11h7v4H2z' fill='#1f8a8a'/>";
  const circle = dot ? `<circle cx='12' cy='12' r='4' fill='${dot}'/>` : "";
  const svg = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>${bars}${circle}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

export function keepTabSign(): void {
  const link = document.querySelector<HTMLLinkElement>("link[rel=icon]")!;
  effect(() => {
    const { kind, word } = standing.value;
    const program = shownName.value;
    document.title = program ? `${program}: ${word} · isoscope` : "isoscope";
    link.href = icon(DOT[kind as keyof typeof DOT]);
  });
}
