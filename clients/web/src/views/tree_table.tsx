// A tree as a table: only the rows in sight are elements. What is opened is known by keys, so it stays
// open when the data change. It is also what those have who do not see the flame graph.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ROOT_KEY, type TreeRows } from "../data/tree_rows";
import type { SearchResult, Unit } from "../worker/messages";
import { keyOfFunction, libraryOf, nameOf } from "../state/live";
import { fill, isDark } from "./colours";
import { duration, grouped, percent } from "./format";
import { hotPath, visibleRows, type Visible } from "./tree_open";

export const ROW_PX = 20;
const BEYOND = 8; // rows above and below those in sight

export interface TreeTableProps {
  rows: TreeRows;
  unit: Unit;
  opened: ReadonlySet<number>;
  setOpened(opened: ReadonlySet<number>): void;
  picked: string;
  onPick(fn: number): void;
  search: SearchResult | null;
  label: string;
  withSelf: boolean; // false: a row has none of its own
}

interface Numbers {
  self: Float64Array;
  total: Float64Array;
  whole: number;
}

function numbersOf(rows: TreeRows, unit: Unit): Numbers {
  return unit === "samples"
    ? { self: rows.self, total: rows.total, whole: rows.whole.samples }
    : { self: rows.selfTime_ns, total: rows.totalTime_ns, whole: rows.whole.time_ns };
}

export function TreeTable(props: TreeTableProps) {
  const { rows, opened, setOpened } = props;
  const body = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(0);
  const [current, setCurrent] = useState(ROOT_KEY);
  const visible = useMemo(() => visibleRows(rows, opened), [rows, opened]);
  useLayoutEffect(() => {
    const element = body.current!;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
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
  useEffect(() => {
    const element = body.current!;
    const y = at * ROW_PX;
    if (y < element.scrollTop) element.scrollTop = y;
    else if (y + ROW_PX > element.scrollTop + element.clientHeight)
      element.scrollTop = y + ROW_PX - element.clientHeight;
  }, [current]);
  const onKeyDown = (event: KeyboardEvent) => {
    const { row, depth, isOpen, canOpen } = visible[at] ?? {};
    if (row === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(height / ROW_PX) - 1);
    const parent = () => {
      for (let i = at; i >= 0; i--) if (visible[i].depth < depth!) return i;
      return at;
    };
    const acts: Record<string, () => void> = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      PageDown: () => go(at + page),
      PageUp: () => go(at - page),
      Home: () => go(0),
      End: () => go(visible.length - 1),
      ArrowRight: () => (canOpen && !isOpen ? open(row, true) : go(at + 1)),
      ArrowLeft: () => (isOpen ? open(row, false) : go(parent())),
      "*": () => setOpened(new Set([...opened, ...hotPath(rows, row)])),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  const first = Math.max(0, Math.floor(top / ROW_PX) - BEYOND);
  const last = Math.min(visible.length, Math.ceil((top + height) / ROW_PX) + BEYOND);
  const numbers = numbersOf(rows, props.unit);
  return (
    <div class="table">
      <div class="head" aria-hidden="true">
        <span class="share">total</span>
        {props.withSelf && <span class="share">self</span>}
        <span class="number">{props.unit}</span>
        {props.withSelf && <span class="number">self</span>}
        <span class="name">function</span>
      </div>
      <div
        class="body"
        ref={body}
        role="tree"
        aria-label={props.label}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
      >
        <div style={{ height: `${visible.length * ROW_PX}px` }}>
          {visible.slice(first, last).map((one, i) => (
            <Row
              key={rows.key[one.row]}
              one={one}
              y={(first + i) * ROW_PX}
              current={first + i === at}
              numbers={numbers}
              toggle={() => open(one.row, !one.isOpen)}
              pick={() => go(first + i)}
              {...props}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

interface RowProps extends TreeTableProps {
  one: Visible;
  y: number;
  current: boolean;
  numbers: Numbers;
  toggle(): void;
  pick(): void;
}

function Row(props: RowProps) {
  const { one, y, current, numbers, toggle, pick, rows, unit, picked, search, withSelf } = props;
  const { row, depth, isOpen, canOpen } = one;
  const fn = rows.fn[row];
  const owner = libraryOf(fn);
  const { self, total, whole } = numbers;
  const text = unit === "samples" ? grouped : duration;
  const share = (weight: number, samples: number) => percent(weight, whole, samples);
  const classes = ["row"];
  if (current) classes.push("current");
  if (picked && keyOfFunction(fn) === picked) classes.push("picked");
  if (search) classes.push(search.hits[fn] ? "hit" : "miss");
  return (
    <div
      class={classes.join(" ")}
      role="treeitem"
      aria-level={depth + 1}
      aria-expanded={canOpen ? isOpen : undefined}
      aria-selected={current}
      style={{ top: `${y}px` }}
      onClick={pick}
      onDblClick={toggle}
    >
      <span class="share">
        <i class="bar" style={{ width: `${(100 * total[row]) / (whole || 1)}%` }} />
        {share(total[row], rows.total[row])}
      </span>
      {withSelf && (
        <span class="share">
          <i class="bar" style={{ width: `${(100 * self[row]) / (whole || 1)}%` }} />
          {self[row] > 0 ? share(self[row], rows.self[row]) : ""}
        </span>
      )}
      <span class="number">{text(total[row])}</span>
      {withSelf && <span class="number">{self[row] > 0 ? text(self[row]) : ""}</span>}
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
        <i
          class="swatch"
          style={{ background: fill(owner.name, owner.system, 1) }}
          data-dark={isDark.value}
        />
        <bdi>{nameOf(fn)}</bdi>
        <bdi class="faint">
          {rows.inlined[row] ? "inlined · " : ""}
          {owner.name}
        </bdi>
      </span>
    </div>
  );
}
