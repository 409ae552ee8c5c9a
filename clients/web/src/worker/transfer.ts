/** The memory of all typed arrays in an answer, each once: what postMessage is to move. */
export function buffersOf(value: unknown, found = new Set<ArrayBuffer>()): ArrayBuffer[] {
  if (ArrayBuffer.isView(value)) found.add(value.buffer as ArrayBuffer);
  else if (Array.isArray(value)) {
    // Lists of objects may hold arrays; lists of numbers and texts do not.
    if (typeof value[0] === "object") for (const one of value) buffersOf(one, found);
  } else if (value && typeof value === "object")
    for (const member of Object.values(value)) buffersOf(member, found);
  return [...found];
}
