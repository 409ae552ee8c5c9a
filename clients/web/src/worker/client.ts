// The page's side of the worker.
import type { FromWorker, Kind, Questions, ToWorker } from "./messages";

type Told = Exclude<FromWorker, { say: "answer" | "failed" }>;

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

export class Backend {
  #waiting = new Map<number, Waiting>();
  #next = 1;

  constructor(
    private readonly worker: Worker,
    told: (message: Told) => void,
  ) {
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (data.say !== "answer" && data.say !== "failed") return told(data);
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if (data.say === "answer") waiting?.resolve(data.answer);
      else waiting?.reject(new Error(data.reason));
    };
    worker.onerror = (event) => told({ say: "problem", problem: event.message });
  }

  say(message: Exclude<ToWorker, { say: "ask" }>): void {
    this.worker.postMessage(message);
  }

  ask<K extends Kind>(kind: K, args: Questions[K]["args"]): Promise<Questions[K]["answer"]> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (answer: unknown) => void, reject });
      const message: ToWorker = { say: "ask", id, kind, args };
      this.worker.postMessage(message);
    });
  }
}
