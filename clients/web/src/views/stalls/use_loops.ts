// Loops as they are now: nothing tells when their figures change, so they are asked about each second while they are seen.
import { useEffect, useState } from "preact/hooks";
import type { LoopTable } from "../../data/stalls/loops";
import { useAnswer } from "../../state/answer";
import { selection } from "../../state/selection";
import { canRecord } from "../../state/standing";

const EVERY_MS = 1000;

export function useLoops(): LoopTable | null {
  const [turn, setTurn] = useState(0);
  const runs = canRecord.value;
  useEffect(() => {
    if (!runs) return;
    const timer = setInterval(() => document.hidden || setTurn((one) => one + 1), EVERY_MS);
    return () => clearInterval(timer);
  }, [runs]);
  return useAnswer("loops", { sort: selection.value.loopSort, turn });
}
