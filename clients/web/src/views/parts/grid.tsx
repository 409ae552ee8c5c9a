// A table of many rows, of which those in sight are elements: its head, its keys, its copy as text.
import type { ComponentChildren } from "preact";
import { copyTable } from "./aligned";
import { Head, type Heading, type Sorted } from "./head";
import { ROW_PX, type RowsInSight } from "./rows_in_sight";

interface Props {
  sight: RowsInSight;
  count: number; // of all rows
  row(index: number): ComponentChildren;
  current: string | undefined; // id of the row that keys are on
  label: string;
  kind?: string; // one more class
  empty?: string; // what is said where there is no row
  role?: "grid" | "treegrid";
  sorted: Sorted;
  headings: Heading[];
  onKeyDown(event: KeyboardEvent): void;
  onDblClick?(): void; // in any row, or below them: the first click may have moved the table
  text(): string[][];
}

export function Grid({ sight, count, row, kind = "", role = "grid", ...props }: Props) {
  const inSight = [];
  for (let index = sight.first; index < sight.last; index++) inSight.push(row(index));
  return (
    <div
      class={`table ${kind}`}
      role={role}
      aria-label={props.label}
      aria-rowcount={count + 1}
      aria-activedescendant={props.current}
      tabIndex={0}
      onKeyDown={props.onKeyDown}
      onCopy={(event) => copyTable(event, props.text)}
    >
      <Head sorted={props.sorted} headings={props.headings} />
      <div
        class="body"
        ref={sight.body}
        role="rowgroup"
        onScroll={sight.onScroll}
        onDblClick={props.onDblClick}
      >
        <div style={{ height: `${count * ROW_PX}px` }}>{inSight}</div>
        {!count && <p class="empty">{props.empty ?? "No matching functions."}</p>}
      </div>
    </div>
  );
}

/** What a row of it needs. id: of the one that keys are on. */
export function rowOf(index: number, id: string | undefined) {
  return {
    role: "row" as const,
    id,
    "aria-rowindex": index + 2,
    "aria-selected": id !== undefined,
    style: { top: `${index * ROW_PX}px` },
  };
}
