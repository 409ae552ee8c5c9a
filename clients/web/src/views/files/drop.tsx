// Files that are dropped on the page, or picked: to be shown instead, or to compare with.
import { useEffect, useState } from "preact/hooks";
import { fromBase64 } from "../../data/files/base64";
import type { FileUse } from "../../worker/messages";
import { backend, files, link, problem } from "../../state/live";
import { savedShown } from "../../state/standing";
import { ending } from "../parts/format";
import { SavedWords } from "./saved_words";

async function open(as: FileUse, file: File): Promise<void> {
  try {
    const content = await file.arrayBuffer();
    backend().say({ say: "open", as, name: file.name, content });
  } catch (error) {
    problem.value = `cannot read ${file.name}: ${(error as Error).message}`;
  }
}

/** In the page, or beside it on `isoscope view`'s server. */
async function contentBeside(): Promise<ArrayBuffer | null> {
  const held = document.getElementById("profile")?.textContent;
  if (held) return fromBase64(held).buffer;
  const answer = await fetch("profile").catch(() => null);
  return answer?.ok ? answer.arrayBuffer() : null;
}

/** The file that the page came with: its name stands there, and there is no service. */
export async function openBeside(name: string): Promise<void> {
  link.value = { state: "none" };
  const content = await contentBeside();
  if (content) backend().say({ say: "open", as: "shown", name, content });
  else problem.value = `cannot read ${name}: \`isoscope view\` has ended`;
}

export function openByHand(as: FileUse): void {
  const input = document.createElement("input");
  input.type = "file";
  input.onchange = () => {
    if (input.files?.[0]) void open(as, input.files[0]);
  };
  input.click();
}

const holdsFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;

/** Two places to drop at, over the page while a file is dragged. */
export function Drop() {
  const [over, setOver] = useState<FileUse | "" | null>(null); // null: nothing is dragged
  useEffect(() => {
    const move = (event: DragEvent) => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      const place = (event.target as HTMLElement).closest?.<HTMLElement>("[data-use]");
      setOver((place?.dataset.use as FileUse | undefined) ?? "");
    };
    const leave = (event: DragEvent) => {
      if (!event.relatedTarget) setOver(null);
    };
    const drop = (event: DragEvent) => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      setOver(null);
      const place = (event.target as HTMLElement).closest?.<HTMLElement>("[data-use]");
      const file = event.dataTransfer?.files[0];
      if (file) void open((place?.dataset.use as FileUse | undefined) ?? "shown", file);
    };
    const listeners = { dragenter: move, dragover: move, dragleave: leave, drop };
    for (const [name, act] of Object.entries(listeners))
      document.addEventListener(name, act as EventListener);
    return () => {
      for (const [name, act] of Object.entries(listeners))
        document.removeEventListener(name, act as EventListener);
    };
  }, []);
  if (over === null) return null;
  return (
    <div class="drop">
      <div data-use="shown" class={over === "shown" ? "over" : ""}>
        Show this file
      </div>
      <div data-use="compared" class={over === "compared" ? "over" : ""}>
        Compare what is shown with this file
      </div>
    </div>
  );
}

/** Which file is shown instead of the service's samples. */
export function FileBanner() {
  const { shown } = files.value;
  if (!shown) return null;
  const ended = shown.session?.processes.filter(({ endMs }) => endMs > 0) ?? [];
  return (
    <div class="banner">
      <span>
        <b dir="auto">{shown.name}</b> ({shown.form}) is shown
        {shown.timeless ? ". It has no times: samples are placed one after another" : ""}.{" "}
        <SavedWords of={savedShown.value} />
        {ended.length > 0 && `The program ${ending(ended)}.`}
      </span>
      {link.value.state !== "none" && (
        <button onClick={() => backend().say({ say: "close", as: "shown" })}>
          Back to the program
        </button>
      )}
    </div>
  );
}
