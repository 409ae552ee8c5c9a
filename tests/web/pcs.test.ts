import assert from "node:assert/strict";
import { test } from "node:test";
import { Profile } from "../../clients/web/src/data/profile";
import { pcsOf } from "../../clients/web/src/data/sums/pcs";
import type { Rpc } from "../../clients/web/src/wire/rpc";
import { readCode } from "../../clients/web/src/wire/code";
import { functionOf } from "./samples";

const ALL: [number, number][] = [[0, 2 ** 48]];

/** frames: function, pc, and whether it is inlined into the one before; outermost first. */
function sample(profile: Profile, frames: [string, number, number?][], cpu_ns = 1e6): void {
  let stack = 0;
  for (const [name, pc, inlined = 0] of frames)
    stack = profile.stack(stack, profile.place(functionOf(profile, name), "", 0, inlined, pc));
  const { samples } = profile;
  samples.stack.push(stack);
  samples.time_us.push(samples.length);
  samples.cpu_ns.push(cpu_ns);
  samples.thread.push(profile.thread(1, 1, "main"));
  samples.tag.push(profile.tags.intern(""));
  samples.state.push(profile.states.intern("Running"));
  samples.whole.push(1);
}

test("a leaf's pc has its own weight, a caller's call what it called", () => {
  const profile = new Profile();
  sample(profile, [["main", 0x14], ["spin", 0x20]]);
  sample(profile, [["main", 0x14], ["spin", 0x20]], 3e6);
  sample(profile, [["main", 0x14], ["spin", 0x24]]);
  sample(profile, [["main", 0x18]]);
  const { pcs, self, total, selfTime_ns, totalTime_ns, whole } = pcsOf(profile, {}, 0, ALL);
  assert.deepEqual([...pcs], [0x14, 0x18, 0x20, 0x24]);
  assert.deepEqual([...self], [0, 1, 2, 1]);
  assert.deepEqual([...total], [3, 1, 2, 1]);
  assert.deepEqual([...selfTime_ns], [0, 1e6, 4e6, 1e6]);
  assert.deepEqual([...totalTime_ns], [5e6, 1e6, 4e6, 1e6]);
  assert.deepEqual(whole, { samples: 4, time_ns: 6e6 });
});

test("an inlined frame and the one around it are one instruction, as are turns of a recursion", () => {
  const profile = new Profile();
  sample(profile, [["main", 0x14], ["less", 0x14, 1]]);
  sample(profile, [["main", 0x14], ["main", 0x14], ["main", 0x16]]);
  const { pcs, self, total } = pcsOf(profile, {}, 0, ALL);
  assert.deepEqual([...pcs], [0x14, 0x16]);
  assert.deepEqual([...self], [1, 1]);
  assert.deepEqual([...total], [2, 1]);
});

test("other libraries have the same offsets, and what lies outside is left out", () => {
  const profile = new Profile();
  sample(profile, [["main", 0x14], ["libc.so!read", 0x14]]);
  sample(profile, [["main", 2 ** 47]]);
  assert.deepEqual([...pcsOf(profile, {}, 0, [[0x10, 0x15]]).pcs], [0x14]);
  assert.deepEqual([...pcsOf(profile, {}, 0, [[0x10, 0x15]]).self], [0]);
  assert.deepEqual([...pcsOf(profile, {}, 0, [[0x15, 0x20]]).pcs], []);
  assert.deepEqual([...pcsOf(profile, {}, 0, ALL).pcs], [0x14, 2 ** 47]);
});

test("a long function's code is asked for until there is no more", async () => {
  const parts: Record<number, object> = {
    0: { loadBias: 4096, next: 8, instructions: [{ offset: 4, bytes: "90", mnemonic: "nop" }] },
    8: { loadBias: 4096, instructions: [{ offset: 8, bytes: "c3", mnemonic: "ret" }] },
  };
  const rpc = { call: async (_: string, { offset }: { offset: number }) => parts[offset] };
  const code = await readCode(rpc as unknown as Rpc, "functions/1/4");
  assert.deepEqual(
    code.instructions.map(({ mnemonic }) => mnemonic),
    ["nop", "ret"],
  );
  assert.deepEqual([code.bias, code.reason], [4096, ""]);
});
