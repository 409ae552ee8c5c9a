// What is said of saved sessions: of what, when, and whether all of it is there.
import type { SavedFile } from "../../wire/protocol";
import { grouped } from "../parts/format";

/** names: there are several, so each says its file's. */
export function SavedWords({ of, names = false }: { of: readonly SavedFile[]; names?: boolean }) {
  return (
    <>
      {of.map(({ name, command, host, startTime, closed, missed }) => (
        <span>
          {names && <b dir="auto">{name}: </b>}
          Recorded {new Date(startTime).toLocaleString()}
          {host && ` on ${host}`}
          {command && (
            <>
              {" "}
              of <code dir="auto">{command}</code>
            </>
          )}
          .{" "}
          {!closed && (
            <b class="warn">The recording was cut off: at most its last second is missing. </b>
          )}
          {missed > 0 && (
            <b class="warn">{grouped(missed)} samples could not be recorded in time. </b>
          )}
        </span>
      ))}
    </>
  );
}
