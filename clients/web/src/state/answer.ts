// An answer of the worker that keeps up with what it was asked: a new one when the question or the
// data change, one question at a time, the newest last. What was shown stays until then.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Kind, Questions } from "../worker/messages";
import { backend, data, problem } from "./live";

interface Ask {
  key: string;
  args: unknown;
}

/** null: there is no answer yet. args null: nothing is asked. */
export function useAnswer<K extends Kind>(
  kind: K,
  args: Questions[K]["args"] | null,
): Questions[K]["answer"] | null {
  const [answer, setAnswer] = useState<{ value: Questions[K]["answer"] } | null>(null);
  const running = useRef(false);
  const next = useRef<Ask | null>(null);
  const version = data.value?.version ?? -1;
  const key = args && version >= 0 ? `${version} ${JSON.stringify(args)}` : "";
  useEffect(() => {
    if (!key) return;
    next.current = { key, args };
    if (!running.current) void run();
  }, [key]);
  async function run(): Promise<void> {
    running.current = true;
    for (let ask = next.current; ask; ask = next.current) {
      next.current = null;
      try {
        const value = await backend().ask(kind, ask.args as Questions[K]["args"]);
        setAnswer({ value });
      } catch (error) {
        problem.value = `${kind}: ${(error as Error).message}`;
      }
    }
    running.current = false;
  }
  return answer && answer.value;
}
