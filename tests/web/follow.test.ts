// When the page asks for new samples: time passes by hand, and the service is a list of replies.
// A reply is a number of samples, or the code of an error; code 0: the link is gone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Follower } from "../../clients/web/src/wire/follow";
import { type Rpc, RpcError } from "../../clients/web/src/wire/rpc";
import { HandClock } from "./hand_clock";

interface ErrorReply {
  code: number;
}
const GONE = { code: 0 };
const BUSY = { code: -32000 };
const BAD_CURSOR = { code: -32602 };

/** A follower at a service that gives these replies, and then no samples. */
class Scene extends HandClock {
  readonly asked: number[] = []; // when, in ms
  readonly cursors: unknown[] = []; // of each request
  readonly resets: boolean[] = []; // of each reply
  readonly failures: unknown[] = [];
  cannotRead = false; // what comes
  readonly follower = new Follower((table) => {
    if (this.cannotRead) throw new Error("nodes: there is no caller 9");
    this.resets.push(Boolean(table.reset));
  });

  constructor(private readonly replies: (number | ErrorReply)[] = []) {
    super();
  }

  connect(): void {
    const call = async (_method: string, params: { cursor?: string }) => {
      this.asked.push(this.now);
      this.cursors.push(params.cursor);
      const reply = this.replies.shift() ?? 0;
      if (typeof reply === "object") throw new RpcError("_getCpuSamples", reply.code, "no");
      return { type: "_CpuSamplesTable", next: "x", sampleCount: reply, more: reply === 50_000 };
    };
    void this.follower.follow({ call } as unknown as Rpc, (error) =>
      this.failures.push(String(error)),
    );
  }
}

function scene(
  name: string,
  replies: (number | ErrorReply)[],
  act: (scene: Scene) => Promise<void>,
): void {
  test(name, async () => {
    const one = new Scene(replies);
    await one.during(async () => {
      one.connect();
      await one.until(0);
      await act(one);
    });
  });
}

scene("a service that does not tell of samples is asked each second", [5], async (one) => {
  await one.until(3500);
  assert.deepEqual(one.asked, [0, 1000, 2000, 3000]);
});

scene("one that tells is asked when it has told, and at most once a second", [5], async (one) => {
  one.follower.tells();
  await one.until(300);
  one.follower.told();
  await one.until(600);
  one.follower.told();
  await one.until(4200);
  one.follower.told();
  await one.until(9000);
  assert.deepEqual(one.asked, [0, 1000, 4200]);
});

scene("what is told while it is asked is asked for", [], async (one) => {
  one.follower.tells();
  one.connect();
  one.follower.told(); // the reply is on its way
  await one.until(9000);
  assert.deepEqual(one.asked, [0, 0, 1000]);
});

scene("without a word it is asked after ten seconds: not all that is lost is told", [], async (one) => {
  one.follower.tells();
  await one.until(25_000);
  assert.deepEqual(one.asked, [0, 11_000, 22_000]);
});

scene("samples that were not told of: from then on it is asked each second", [0, 7], async (one) => {
  one.follower.tells();
  await one.until(13_500);
  assert.deepEqual(one.asked, [0, 11_000, 12_000, 13_000]);
  one.follower.told(); // it does tell
  await one.until(20_000);
  assert.deepEqual(one.asked.slice(4), [14_000]);
});

scene("what there is more of is asked for at once", [50_000, 50_000, 3], async (one) => {
  one.follower.tells();
  await one.until(900);
  assert.deepEqual(one.asked, [0, 0, 0]);
});

scene("what was commanded shows at once", [], async (one) => {
  one.follower.tells();
  await one.until(2000);
  void one.follower.now();
  await one.until(2100);
  void one.follower.now();
  await one.until(2100);
  one.connect();
  let answered = 0;
  void one.follower.now().then(() => (answered = one.asked.length)); // a reply is on its way
  await one.until(2200);
  assert.equal(answered, 5);
  assert.deepEqual(one.asked, [0, 2000, 2100, 2100, 2100]);
});

scene("of two links only the newer one is asked", [], async (one) => {
  one.follower.tells();
  await one.until(5000);
  one.connect();
  await one.until(5000);
  assert.equal(one.waiting, 1);
  await one.until(6500);
  assert.deepEqual(one.asked, [0, 5000, 6000]);
});

scene("a link that is gone ends it, and nobody waits for it", [0, GONE], async (one) => {
  let isOver = false;
  await one.until(999);
  void one.follower.now().then(() => (isOver = true));
  await one.until(5000);
  assert.deepEqual([one.asked, one.failures, one.waiting], [[0, 999], [], 0]);
  assert.ok(isOver);
});

scene("a refused request is told once, and does not end it", [4, BUSY, BUSY, 6], async (one) => {
  let isOver = false;
  void one.follower.now().then(() => (isOver = true));
  one.follower.tells();
  await one.until(2500);
  assert.deepEqual(one.asked, [0, 0, 1000, 2000]);
  assert.ok(isOver);
  assert.deepEqual(one.failures, ["Error: _getCpuSamples: no"]);
  assert.deepEqual(one.cursors, [undefined, "x", "x", "x"]);
  assert.deepEqual(one.resets, [true, false]);
});

scene("a cursor that the service refuses is dropped", [4, BAD_CURSOR, 4], async (one) => {
  await one.until(2500);
  assert.deepEqual(one.cursors, [undefined, "x", undefined]);
  assert.deepEqual(one.resets, [true, true]);
});

scene("a reply that cannot be read is not built upon", [4], async (one) => {
  one.cannotRead = true;
  await one.until(1500);
  one.cannotRead = false;
  await one.until(2500);
  assert.deepEqual(one.cursors, [undefined, "x", undefined]);
  assert.deepEqual(one.resets, [true, true]);
  assert.deepEqual(one.failures, ["Error: nodes: there is no caller 9"]);
});

scene("after the next link it goes on where it was", [4, 5, GONE, 6], async (one) => {
  await one.until(3000);
  one.connect();
  await one.until(3500);
  assert.deepEqual(one.cursors, [undefined, "x", "x", "x"]);
  assert.deepEqual(one.resets, [true, false, false]);
});

scene("a link that does not tell yet is asked each second", [], async (one) => {
  one.follower.tells();
  await one.until(5000);
  one.connect();
  await one.until(7500);
  assert.deepEqual(one.asked, [0, 5000, 6000, 7000]);
});

// As in a hidden tab, whose timers the browser holds back.
scene("a timer that comes late loses nothing that was told", [], async (one) => {
  one.follower.tells();
  one.late_ms = 60_000;
  await one.until(500); // the first pause began before
  one.follower.told();
  await one.until(1000);
  one.follower.told(); // the pause is late from here on
  await one.until(62_000);
  assert.deepEqual(one.asked, [0, 1000, 62_000]);
});
