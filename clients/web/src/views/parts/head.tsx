// The head of a table: a column's name sorts by it, and once more the other way round.
import type { Column, FrameColumn, LoopColumn, SliceColumn, StallColumn, ThreadColumn } from "../../data/sort";
import { unitWord } from "../../state/live";
import { select, type Selection, selection } from "../../state/selection";

/** Selections that are the sort of a table. */
export type Sorted = Extract<keyof Selection, `${string}Sort`>;

/** by "": it does not sort. What sorts as a share does is of class number, and not marked. */
export type Heading = [by: AnyColumn | "", kind: string, title: string];
type AnyColumn = Column | ThreadColumn | SliceColumn | FrameColumn | StallColumn | LoopColumn;

/** Of functions by what they weigh. */
export function weightHeadings(withSelf: boolean): Heading[] {
  const headings: Heading[] = [
    ["total", "share", "total"],
    ["self", "share", "self"],
    ["total", "number", unitWord.value],
    ["self", "number", `self ${unitWord.value}`],
    ["name", "name", "function"],
    ["library", "library", "library"],
  ];
  return headings.filter(([by]) => withSelf || by !== "self");
}

const TEXTS = ["name", "library", "process", "tid", "first", "busiest", "stream", "loop", "thread", "kind", "cause", "culprit", "caller"]; // from the least on

export function Head({ sorted, headings }: { sorted: Sorted; headings: Heading[] }) {
  const { by, ascending } = selection.value[sorted];
  const sortBy = (column: Heading[0]) => {
    const isText = TEXTS.includes(column);
    select({ [sorted]: { by: column, ascending: by === column ? !ascending : isText } });
  };
  return (
    <div class="head" role="row">
      {headings.map(([column, kind, title]) => {
        const isMarked = column === by && kind !== "number";
        return (
          <span
            class={kind}
            role="columnheader"
            aria-sort={isMarked ? (ascending ? "ascending" : "descending") : "none"}
          >
            {column ? (
              <button onClick={() => sortBy(column)}>
                {title}
                {isMarked && (ascending ? " ▴" : " ▾")}
              </button>
            ) : (
              title
            )}
          </span>
        );
      })}
    </div>
  );
}
