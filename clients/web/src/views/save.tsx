// The sheet of what can be saved, and the clipboard.
import { useEffect, useRef } from "preact/hooks";
import { type Form, FORMS } from "../data/files/save";
import {
  backend,
  files,
  functionOfKey,
  info,
  libraryOf,
  look,
  nameOf,
  problem,
} from "../state/live";
import { pickedStack, savingShown } from "../state/page";
import { selection } from "../state/selection";
import { openByHand } from "./drop";
import { pngPicture, svgPicture } from "./picture";

/** As the file's name and the profile's: of the program, or of the file that is shown. */
function nameOfAll(): string {
  return (
    files.value.shown?.name.replace(/\..*$/, "") ?? info.value?.processes[0]?.name ?? "profile"
  );
}

function download(content: BlobPart, suffix: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content]));
  link.download = nameOfAll() + suffix;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

async function tried(what: string, act: () => Promise<void>): Promise<void> {
  savingShown.value = false;
  try {
    await act();
  } catch (error) {
    problem.value = `${what}: ${(error as Error).message}`;
  }
}

function save(form: Form): Promise<void> {
  return tried(`cannot save ${form}`, async () => {
    const content = await backend().ask("save", { ...look.value, form, name: nameOfAll() });
    download(content, FORMS[form].suffix);
  });
}

/** As text, outermost first: the picked box's, else the heaviest of the picked function. */
export function copyStack(): Promise<void> {
  return tried("cannot copy the stack", async () => {
    const { picked } = selection.value;
    const fn = functionOfKey(picked);
    if (fn < 0) throw new Error("pick a function first");
    let stack: number[] = pickedStack.value.map(functionOfKey);
    if (stack[stack.length - 1] !== fn) stack = await backend().ask("stack", { ...look.value, fn });
    const lines = stack
      .filter((one) => one >= 0) // not groups
      .map((one) => `${nameOf(one)}  ${libraryOf(one).name}`.trimEnd());
    await navigator.clipboard.writeText(`${lines.join("\n")}\n`);
  });
}

export function Save() {
  const dialog = useRef<HTMLDialogElement>(null);
  const isShown = savingShown.value;
  useEffect(() => {
    if (isShown) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isShown]);
  const row = (name: string, summary: string, act: () => unknown) => (
    <tr>
      <td>
        <button type="button" onClick={act}>
          {name}
        </button>
      </td>
      <td class="faint">{summary}</td>
    </tr>
  );
  return (
    <dialog ref={dialog} onClose={() => (savingShown.value = false)} aria-label="Save and open">
      <p>The samples of the window and the filters, their stacks whole:</p>
      <table>
        {(Object.keys(FORMS) as Form[]).map((form) =>
          row(form, FORMS[form].summary, () => save(form)),
        )}
      </table>
      <p>The flame graph as it is:</p>
      <table>
        {row("SVG", "a picture with names to read under the pointer", () =>
          tried("cannot save the picture", async () =>
            download(await svgPicture(nameOfAll()), ".svg"),
          ),
        )}
        {row("PNG", "pixels", () =>
          tried("cannot save the picture", async () => download(await pngPicture(), ".png")),
        )}
      </table>
      <p>Files can be dropped on the page, too:</p>
      <table>
        {row("Open…", "shown instead of the program", () => {
          savingShown.value = false;
          openByHand("shown");
        })}
        {row("Compare…", "beside what is shown", () => {
          savingShown.value = false;
          openByHand("compared");
        })}
      </table>
      <form method="dialog">
        <button>Close</button>
      </form>
    </dialog>
  );
}
