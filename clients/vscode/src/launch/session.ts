// One launch configuration that runs: what VS Code asks of a debugger, answered by a profiler. Nothing is ever stopped.
//
// It knows no VS Code, only messages.
import type { Ended, Output } from "../../../editor/src/lsp/own_messages";
import { entryOf } from "../model/launch_entry";
import type { Event, Request, Response } from "./messages";

/** Its language server. */
export interface Runner {
  command(command: string, ...words: unknown[]): Promise<unknown>;
}

type Body = Record<string, unknown>;

export class Session {
  #isRunning = false;
  #isOver = false;

  constructor(
    private readonly id: string,
    private readonly runner: Runner,
    private readonly send: (message: Response | Event) => void,
  ) {}

  async handle(request: Request): Promise<void> {
    const answer = { type: "response" as const, request_seq: request.seq, command: request.command };
    try {
      this.send({ ...answer, success: true, body: (await this.#do(request)) ?? {} });
      if (request.command === "initialize") this.#tell("initialized");
    } catch (error) {
      const { message } = error as Error;
      this.send({ ...answer, success: false, message, body: { error: { id: 1, format: message, showUser: true } } });
      if (request.command === "launch" || request.command === "attach") this.#over();
    }
  }

  #do({ command, arguments: words = {} }: Request): Promise<Body | void> | Body | void {
    switch (command) {
      case "initialize":
        return { supportsConfigurationDoneRequest: true, supportsTerminateRequest: true };
      case "launch":
        return this.#launch(words);
      case "attach":
        return this.#attach(words);
      case "terminate":
      case "disconnect":
        return this.#end();
      case "threads":
        return { threads: [] };
      case "configurationDone":
      case "setBreakpoints":
      case "setFunctionBreakpoints":
      case "setExceptionBreakpoints":
        return { breakpoints: [] };
      default:
        throw new Error(`isoscope samples the program and does not stop it: there is no "${command}"`);
    }
  }

  async #launch(config: Body): Promise<void> {
    const entry = entryOf(config, this.id);
    this.#isRunning = true;
    try {
      await this.runner.command("isoscope.run", entry);
    } catch (error) {
      this.#isRunning = false;
      throw error;
    }
  }

  async #attach({ source = "" }: Body): Promise<void> {
    if (typeof source !== "string") throw new Error("source: the URI of a service, an info file or a session is expected");
    await this.runner.command("isoscope.attach", ...(source ? [source] : []));
  }

  async #end(): Promise<void> {
    if (this.#isRunning) await this.runner.command("isoscope.stop");
    this.#isRunning = false;
    this.#over();
  }

  output({ id, text }: Output): void {
    if (id === this.id) this.#tell("output", { category: "stdout", output: text });
  }

  ended({ id, status }: Ended): void {
    if (id !== this.id || this.#isOver) return;
    this.#isRunning = false;
    const words = status === null ? "was ended by a signal" : `ended with status ${status}`;
    this.#tell("output", { category: "console", output: `The program ${words}; what was sampled stays in the editor.\n` });
    this.#tell("exited", { exitCode: status ?? 1 });
    this.#over();
  }

  #over(): void {
    if (!this.#isOver) this.#tell("terminated");
    this.#isOver = true;
  }

  #tell(event: string, body?: Body): void {
    this.send({ type: "event", event, ...(body && { body }) });
  }
}
