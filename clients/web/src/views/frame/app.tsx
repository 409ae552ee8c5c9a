// The page: its parts from top to bottom.
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import { useAnswer } from "../../state/answer";
import { data, kindShown, link, look } from "../../state/live";
import { hitsCame } from "../../state/hits";
import { selection } from "../../state/selection";
import { BottomUpView } from "../rows/bottom_up_view";
import { Chart } from "../flame/chart";
import { Drop, FileBanner } from "../files/drop";
import { Flame } from "../flame/flame";
import { FrameMenu } from "./frame_menu";
import { FunctionTable } from "../rows/function_table";
import { Header } from "./header";
import { LegendBar } from "./legend";
import { onKey } from "./keys";
import { later } from "./later";
import { Moment } from "../overview/moment";
import { Overview } from "../overview/overview";
import { Side } from "./side";
import { Banner, Status } from "./status";
import { Tabs } from "./tabs";
import { CallTreeView } from "../rows/call_tree_view";
import type { SearchResult } from "../../worker/messages";
import { isDark } from "../parts/colours";
import { Empty, Few, isOfTime, OfTime } from "../parts/empty";
import { PageTip } from "../parts/tip";

function Loading() {
  return (
    <p class="empty" role="status">
      Loading…
    </p>
  );
}

/** Each view by its name. */
function View({ search }: { search: SearchResult | null }) {
  if (!data.value && link.value.state !== "refused")
    return (
      <p class="empty" role="status">
        Waiting for samples…
      </p>
    );
  if (!data.value) return <Empty />;
  if (isOfTime(selection.value.view)) return <OfTime />;
  const { Compare, EventTables, HeatMap, Source, Sandwich, StallView, Strips, ThreadTable } = later.value;
  switch (selection.value.view) {
    case "flame":
      return <Flame search={search} />;
    case "chart":
      return <Chart search={search} Strips={Strips} />;
    case "tree":
      return <CallTreeView search={search} />;
    case "bottom-up":
      return <BottomUpView search={search} />;
    case "table":
      return <FunctionTable search={search} />;
    case "source":
      return Source ? <Source /> : <Loading />;
    case "compare":
      return Compare ? <Compare search={search} /> : <Loading />;
    case "sandwich":
      return Sandwich ? <Sandwich search={search} /> : <Loading />;
    case "threads":
      return ThreadTable ? <ThreadTable search={search} /> : <Loading />;
    case "events":
      return EventTables ? <EventTables /> : <Loading />;
    case "stalls":
      return StallView ? <StallView /> : <Loading />;
    case "heat-map":
      return HeatMap ? <HeatMap /> : <Loading />;
  }
}

export function App() {
  const { search } = selection.value;
  const { Filters, Help, KindSwitch, LaneTools, LossBanner, Processes, Save, StallMarks } = later.value;
  const answer = useAnswer("search", search.text ? { ...look.value, search } : null);
  const found = useMemo(
    () => (search.text && answer && !answer.error ? answer : null),
    [search.text, answer],
  );
  // Before any further key: numbers in an older answer may mean others now.
  useLayoutEffect(() => hitsCame(answer), [answer]);
  useEffect(() => {
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  useEffect(() => {
    document.documentElement.dataset.theme = isDark.value ? "dark" : "light";
  }, [isDark.value]);
  return (
    <>
      <Header search={search.text ? answer : null} KindSwitch={KindSwitch} />
      <Banner />
      {LossBanner && <LossBanner />}
      <Few />
      <FileBanner />
      {kindShown.value.isMoment ? <Moment /> : <Overview StallMarks={StallMarks} LaneTools={LaneTools} />}
      <Tabs />
      <LegendBar />
      <main>
        <section class="view">
          <View search={found} />
        </section>
        <Side />
      </main>
      <Status />
      {Help && <Help />}
      {Filters && <Filters />}
      {Processes && <Processes />}
      {Save && <Save />}
      <Drop />
      <FrameMenu />
      <PageTip />
    </>
  );
}
