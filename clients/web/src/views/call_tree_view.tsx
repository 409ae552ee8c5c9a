// The call tree of the selection, from the threads' first functions on.
import { useEffect, useMemo, useState } from "preact/hooks";
import { groupOf } from "../data/group";
import { difference } from "../data/sort";
import type { SearchResult, SortedRows } from "../worker/messages";
import { useAnswer } from "../state/answer";
import { info, keyOfFunction, look, nameOf } from "../state/live";
import { select, selection } from "../state/selection";
import { Empty } from "./empty";
import { hotPath } from "./tree_open";
import { TreeTable } from "./tree_table";

/** The worker does not know all names of groups, which are the roots, and few. */
function withGroupsSorted(rows: SortedRows): SortedRows {
  const { fn, first, sort } = rows;
  if (sort.by !== "name" || groupOf(fn[rows.list[0]]) === null) return rows;
  const sign = sort.ascending ? 1 : -1;
  const list = rows.list.slice();
  list.subarray(0, first[1]).sort((a, b) => sign * difference(nameOf(fn[a]), nameOf(fn[b])));
  return { ...rows, list };
}

export function CallTreeView({ search }: { search: SearchResult | null }) {
  const { unit, picked, treeSort: sort } = selection.value;
  // By weight at first, also while live: by name a tree would hide its heavy part.
  const answer = useAnswer("tree", { ...look.value, sort, unit });
  const rows = useMemo(() => answer && withGroupsSorted(answer), [answer, info.value]);
  const [opened, setOpened] = useState<ReadonlySet<number> | null>(null);
  useEffect(() => {
    if (rows && rows.whole.samples && !opened) setOpened(new Set(hotPath(rows, 0)));
  }, [rows]);
  if (!rows) return null;
  if (!rows.whole.samples) return <Empty />;
  return (
    <TreeTable
      rows={rows}
      sorted="treeSort"
      unit={unit}
      opened={opened ?? new Set()}
      setOpened={setOpened}
      picked={picked}
      onPick={(fn) => select({ picked: keyOfFunction(fn) })}
      search={search}
      label="Call tree"
      withSelf
    />
  );
}
