// The tree upside down: where the time is spent, and below it, who called that.
import { useMemo } from "preact/hooks";
import type { SearchResult } from "../../worker/messages";
import { useAnswer } from "../../state/answer";
import { keyOfFunction, look } from "../../state/live";
import { select, selection } from "../../state/selection";
import { Empty } from "../parts/empty";
import { TreeTable } from "./tree_table";

export function BottomUpView({ search }: { search: SearchResult | null }) {
  const { picked, bottomUpSort: sort, bottomUpOpen } = selection.value;
  const opened = useMemo(() => new Set(bottomUpOpen), [bottomUpOpen]);
  const rows = useAnswer("bottomUp", { ...look.value, opened: bottomUpOpen, sort });
  if (!rows) return null;
  if (!rows.whole.samples) return <Empty />;
  return (
    <TreeTable
      rows={rows}
      sorted="bottomUpSort"
      opened={opened}
      setOpened={(next) => select({ bottomUpOpen: [...next] }, "bottomUpOpen")}
      picked={picked}
      onPick={(fn) => select({ picked: keyOfFunction(fn) })}
      search={search}
      label="Bottom-up"
      withSelf={false}
    />
  );
}
