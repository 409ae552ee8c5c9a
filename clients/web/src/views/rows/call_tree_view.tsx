// The call tree of the selection, from the threads' first functions on.
import { useEffect, useMemo, useState } from "preact/hooks";
import { groupOf } from "../../data/group";
import { difference } from "../../data/sort";
import type { SearchResult, SortedRows } from "../../worker/messages";
import { useAnswer } from "../../state/answer";
import { info, keyOfFunction, look, nameOf } from "../../state/live";
import { select, selection } from "../../state/selection";
import { Empty } from "../parts/empty";
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
  const { picked, treeSort: sort, treeOpen } = selection.value;
  // By weight at first, also while live: by name a tree would hide its heavy part.
  const answer = useAnswer("tree", { ...look.value, sort });
  const rows = useMemo(() => answer && withGroupsSorted(answer), [answer, info.value]);
  const [hot, setHot] = useState<number[] | null>(null); // as it was at first: while live it would jump
  useEffect(() => {
    if (rows && rows.whole.samples && !hot) setHot(hotPath(rows, 0));
  }, [rows]);
  const opened = useMemo(() => new Set(treeOpen ?? hot), [treeOpen, hot]);
  if (!rows) return null;
  if (!rows.whole.samples) return <Empty />;
  return (
    <TreeTable
      rows={rows}
      sorted="treeSort"
      opened={opened}
      setOpened={(next) => select({ treeOpen: [...next] }, "treeOpen")}
      picked={picked}
      onPick={(fn) => select({ picked: keyOfFunction(fn) })}
      search={search}
      label="Call tree"
      withSelf
    />
  );
}
