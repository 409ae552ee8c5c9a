// There are no stalls: what is watched, what cannot be and why, and how a program has a loop watched.
import type { LoopTable } from "../../data/stalls/loops";
import { backend, link } from "../../state/live";
import { canRecord } from "../../state/standing";
import { grouped } from "../parts/format";

const NAMED_MOST = 8;
const WATCHED = "epoll, poll, select or io_uring by the C library";

export function NoStalls({ loops: told }: { loops: LoopTable | null }) {
  if (!told)
    return (
      <div class="empty" role="status">
        {link.value.state === "none" ? "No stalls: this file tells of no loops." : "No stalls."}
      </div>
    );
  const { loops, limits, watch, unwatched } = told;
  const watched = loops.filter((one) => one.watched && !one.ended);
  const ended = loops.filter((one) => one.ended).length;
  const names = watched.slice(0, NAMED_MOST).map(({ name, thread, tid }) => `${name || thread} (${tid})`);
  return (
    <div class="empty" role="status">
      <p>No stalls: no dispatch of a watched loop took {grouped(limits.stall)} ms or longer.</p>
      <ul>
        <li>{watch === "none" ? <Off /> : <Watched count={watched.length} names={names} ended={ended} />}</li>
        {unwatched.length > 0 && (
          <li>
            Not watched, since they wait by system calls of their own, which isoscope does not see:{" "}
            {unwatched
              .slice(0, NAMED_MOST)
              .map(({ thread, tid, systemCall }) => `${thread || "thread"} (${tid}) in ${systemCall}`)
              .join(", ")}
            {unwatched.length > NAMED_MOST && ` and ${grouped(unwatched.length - NAMED_MOST)} more`}.
          </li>
        )}
        <li>
          A thread is known as a loop once it has waited often in {WATCHED}. Others are registered: <code>#include
          &lt;isoscope/isoscope.h&gt;</code>, then <code>isoscope_loop_register("render", NULL)</code>, and{" "}
          <code>isoscope_loop_begin(loop)</code> and <code>isoscope_loop_end(loop)</code> around each job.
        </li>
      </ul>
    </div>
  );
}

function Watched({ count, names, ended }: { count: number; names: string[]; ended: number }) {
  const over = ended ? `; ${grouped(ended)} ${ended === 1 ? "has" : "have"} ended` : "";
  if (!count) return <>No loop is watched now{over}.</>;
  const more = count > names.length ? ` and ${grouped(count - names.length)} more` : "";
  return (
    <>
      Watched: {names.join(", ")}
      {more}
      {over}.
    </>
  );
}

function Off() {
  const turnOn = () => backend().say({ say: "command", command: { set: "watch", loops: "auto" } });
  return (
    <>
      No loop is watched: the flag stall_watch is none.{" "}
      {canRecord.value && <button onClick={turnOn}>Watch all that can be</button>}
    </>
  );
}
