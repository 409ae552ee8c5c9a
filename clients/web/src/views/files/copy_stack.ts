// A stack on the clipboard, as text.
import { backend, functionOfKey, libraryOf, look, nameOf, problem } from "../../state/live";
import { pickedStack, savingShown } from "../../state/page";
import { selection } from "../../state/selection";

/** Closes the sheet. What fails is said in the status line. */
export async function tried(what: string, act: () => Promise<void>): Promise<void> {
  savingShown.value = false;
  try {
    await act();
  } catch (error) {
    problem.value = `${what}: ${(error as Error).message}`;
  }
}

/** As text, outermost first: the picked box's, else the heaviest of the picked function. */
export function copyStack(): Promise<void> {
  return tried("cannot copy the stack", async () => {
    const { picked } = selection.value;
    const fn = functionOfKey(picked);
    if (fn < 0) throw new Error("no function is selected");
    let stack: number[] = pickedStack.value.map(functionOfKey);
    if (stack[stack.length - 1] !== fn) stack = await backend().ask("stack", { ...look.value, fn });
    const lines = stack
      .filter((one) => one >= 0) // not groups
      .map((one) => `${nameOf(one)}  ${libraryOf(one).name}`.trimEnd());
    await navigator.clipboard.writeText(`${lines.join("\n")}\n`);
  });
}
