import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event, Response } from "../../clients/vscode/src/launch/messages";
import { type Runner, Session } from "../../clients/vscode/src/launch/session";

const LAUNCH = { name: "n", program: "./p" };

/** A session, what it said, and what it asked the server. refuses: what the server answers with an error. */
function started(refuses = "") {
  const said: (Response | Event)[] = [];
  const asked: unknown[][] = [];
  const runner: Runner = {
    command: async (...words) => {
      asked.push(words);
      if (words[0] === refuses) throw new Error("there is no such program");
    },
  };
  const session = new Session("7", runner, (message) => said.push(message));
  let seq = 0;
  const ask = (command: string, words?: Record<string, unknown>) => session.handle({ seq: ++seq, type: "request", command, arguments: words });
  const events = () => said.flatMap((one) => (one.type === "event" ? [one.event] : []));
  return { session, said, asked, ask, events };
}

test("a program runs, writes and ends", async () => {
  const { session, said, asked, ask, events } = started();
  await ask("initialize");
  await ask("launch", LAUNCH);
  session.output({ id: "7", text: "hello\n" });
  session.output({ id: "8", text: "another's\n" });
  session.ended({ id: "8", status: 1 });
  session.ended({ id: "7", status: 3 });
  assert.deepEqual(events(), ["initialized", "output", "output", "exited", "terminated"]);
  assert.deepEqual(asked, [["isoscope.run", { id: "7", name: "n", program: "./p", args: [], env: {}, options: [] }]]);
  const bodies = said.flatMap((one) => (one.type === "event" ? [one.body as { output?: string; exitCode?: number }] : []));
  assert.equal(bodies[1].output, "hello\n");
  assert.match(bodies[2].output!, /ended with status 3/);
  assert.equal(bodies[3].exitCode, 3);
});

test("a program that does not start ends the session with the server's words", async () => {
  const { said, ask, events } = started("isoscope.run");
  await ask("launch", LAUNCH);
  const [answer] = said as Response[];
  assert.equal(answer.success, false);
  assert.equal(answer.message, "there is no such program");
  assert.deepEqual(events(), ["terminated"]);
});

test("a stop ends the program that was run, and no service that was attached to", async () => {
  const run = started();
  await run.ask("launch", LAUNCH);
  await run.ask("disconnect");
  assert.deepEqual(run.asked.map(([command]) => command), ["isoscope.run", "isoscope.stop"]);
  run.session.ended({ id: "7", status: null });
  assert.deepEqual(run.events(), ["terminated"]);
  const attached = started();
  await attached.ask("attach", { source: "here.json" });
  await attached.ask("disconnect");
  assert.deepEqual(attached.asked, [["isoscope.attach", "here.json"]]);
});

test("what would stop the program is refused in words", async () => {
  const { said, ask } = started();
  await ask("pause");
  assert.match((said[0] as Response).message!, /does not stop it: there is no "pause"/);
});
