// A tree as a table: only the rows in sight are elements. What is opened is known by keys, so it stays
// open when the data change. It is also what those have who do not see the flame graph.
import { useEffect, useId, useMemo, useState } from "preact/hooks";
import { ROOT_KEY, type TreeRows } from "../../data/layouts/tree_rows";
import type { SearchResult, SortedRows } from "../../worker/messages";
import { byUnit, keyOfFunction, nameOf, unitWord } from "../../state/live";
import { openMenu } from "../../state/page";
import { FunctionName, Share, Weight, weightText } from "../parts/cells";
import { percent } from "../parts/format";
import { Grid, rowOf } from "../parts/grid";
import { type Sorted, weightHeadings } from "../parts/head";
import { useRowsInSight } from "../parts/rows_in_sight";
import { hotPath, visibleRows, type Visible } from "./tree_open";

export interface TreeTableProps {
  rows: SortedRows;
  sorted: Sorted;
  opened: ReadonlySet<number>;
  setOpened(opened: ReadonlySet<number>): void;
  picked: string;
  onPick(fn: number): void;
  search: SearchResult | null;
  label: string;
  withSelf: boolean; // false: a row has none of its own
}

const NUMBER_PX = 84; // a column of numbers
const NAME_PART = 0.75; // of what is left: the library stands behind it

interface Numbers {
  self: Float64Array;
  total: Float64Array;
  whole: number;
}

function numbersOf(rows: TreeRows): Numbers {
  return byUnit(
    { self: rows.self, total: rows.total, whole: rows.whole.samples },
    { self: rows.selfTime_ns, total: rows.totalTime_ns, whole: rows.whole.time_ns },
  );
}

export function TreeTable(props: TreeTableProps) {
  const { rows, opened, setOpened } = props;
  const [current, setCurrent] = useState(ROOT_KEY);
  const visible = useMemo(() => visibleRows(rows, opened), [rows, opened]);
  const id = useId();
  const sight = useRowsInSight(visible.length);
  const at = Math.max(
    0,
    visible.findIndex(({ row }) => rows.key[row] === current),
  );
  const open = (row: number, on: boolean) => {
    const next = new Set(opened);
    if (on) next.add(rows.key[row]);
    else next.delete(rows.key[row]);
    setOpened(next);
  };
  const go = (index: number) => {
    const target = visible[Math.max(0, Math.min(visible.length - 1, index))];
    if (!target) return;
    setCurrent(rows.key[target.row]);
    props.onPick(rows.fn[target.row]);
  };
  const { by, ascending } = rows.sort;
  useEffect(() => sight.reveal(at), [current, by, ascending]);
  const onKeyDown = (event: KeyboardEvent) => {
    const { row, depth, isOpen, canOpen } = visible[at] ?? {};
    if (row === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    const parent = () => {
      for (let i = at; i >= 0; i--) if (visible[i].depth < depth!) return i;
      return at;
    };
    const acts: Record<string, () => void> = {
      ArrowRight: () => (canOpen && !isOpen ? open(row, true) : go(at + 1)),
      ArrowLeft: () => (isOpen ? open(row, false) : go(parent())),
      "*": () => setOpened(new Set([...opened, ...hotPath(rows, row)])),
    };
    if (sight.onKey(event, at, go) || !acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  };
  const numbers = numbersOf(rows);
  return (
    <Grid
      sight={sight}
      count={visible.length}
      row={(index) => {
        const one = visible[index];
        return (
          <Row
            key={rows.key[one.row]}
            one={one}
            index={index}
            id={index === at ? id : undefined}
            numbers={numbers}
            toggle={() => open(one.row, !one.isOpen)}
            pick={() => go(index)}
            width={sight.width}
            {...props}
          />
        );
      }}
      current={id}
      label={props.label}
      role="treegrid"
      sorted={props.sorted}
      headings={weightHeadings(props.withSelf)}
      onKeyDown={onKeyDown}
      text={() => textRows(props, numbers, visible)}
    />
  );
}

function textRows(
  { rows, withSelf }: TreeTableProps,
  { self, total, whole }: Numbers,
  visible: Visible[],
): string[][] {
  const head = ["total", ...(withSelf ? ["self"] : []), unitWord.value, "function"];
  const lines = visible.map(({ row, depth }) => [
    percent(total[row], whole, rows.total[row]),
    ...(withSelf ? [percent(self[row], whole, rows.self[row])] : []),
    weightText(total[row]),
    `${"  ".repeat(depth)}${nameOf(rows.fn[row])}`,
  ]);
  return [head, ...lines];
}

interface RowProps extends TreeTableProps {
  one: Visible;
  id: string | undefined; // of the one that keys are on
  index: number; // among those that are visible
  numbers: Numbers;
  toggle(): void;
  pick(): void;
  width: number; // of the table, in pixels
}

function Row(props: RowProps) {
  const { one, index, id, numbers, toggle, pick } = props;
  const { rows, picked, search, withSelf } = props;
  const { row, depth, isOpen, canOpen } = one;
  const numbersPx = (withSelf ? 4 : 2) * NUMBER_PX;
  const room = (props.width - numbersPx - 12 * Math.min(depth, 60) - 40) * NAME_PART;
  const fn = rows.fn[row];
  const { self, total, whole } = numbers;
  const classes = ["row"];
  if (id) classes.push("current");
  if (picked && keyOfFunction(fn) === picked) classes.push("picked");
  if (search) classes.push(search.hits[fn] ? "hit" : "miss");
  return (
    <div
      class={classes.join(" ")}
      {...rowOf(index, id)}
      aria-level={depth + 1}
      aria-expanded={canOpen ? isOpen : undefined}
      onClick={pick}
      onDblClick={toggle}
      onContextMenu={(event) => {
        pick();
        openMenu(event);
      }}
    >
      <Share part={total[row]} whole={whole} samples={rows.total[row]} />
      {withSelf && <Share part={self[row]} whole={whole} samples={rows.self[row]} />}
      <Weight weight={total[row]} />
      {withSelf && <Weight weight={self[row]} />}
      <span class="name" style={{ paddingLeft: `${Math.min(depth, 60) * 12}px` }}>
        <button
          class="twisty"
          tabIndex={-1}
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation();
            toggle();
          }}
        >
          {canOpen ? (isOpen ? "▾" : "▸") : ""}
        </button>
        <FunctionName fn={fn} inlined={rows.inlined[row]} room={room} />
      </span>
    </div>
  );
}
