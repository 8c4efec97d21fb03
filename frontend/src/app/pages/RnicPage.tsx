import { Stack, Tabs, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useCallback, useMemo } from "react";
import { OverviewTab } from "@/features/fleet/rnic/overview/OverviewTab";
import { useRnic } from "@/features/fleet/rnic/queries";
import { RnicHeader } from "@/features/fleet/rnic/RnicHeader";
import classes from "@/features/fleet/rnic/RnicHeader.module.css";
import { withoutFlows } from "@/features/fleet/rnic/status";
import { NO_FIELDS, RNIC_TABS, type RnicSearch, toFields } from "@/features/fleet/rnic/tabs";
import { parseVfView, type VfView } from "@/features/fleet/vfs/vfView";
import { ContentionPanel } from "@/features/functions/card/ContentionPanel";
import { fixedRange, parseRange, type RangeSearch, zoomOut } from "@/lib/time/range";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { TimePicker } from "@/shared/time/TimePicker";
import { LoadingPage } from "../LoadingPage";

// The overview is what people come for; the code of the other tabs is fetched when one of them is opened.
const ForecastPanel = lazy(() =>
  import("@/features/fleet/forecasts/ForecastPanel").then((module) => ({ default: module.ForecastPanel })),
);
const ExpectedPanel = lazy(() =>
  import("@/features/fleet/profiles/ExpectedPanel").then((module) => ({ default: module.ExpectedPanel })),
);
const ChainPanel = lazy(() =>
  import("@/features/fleet/rnic/ChainPanel").then((module) => ({ default: module.ChainPanel })),
);
const HardwareTab = lazy(() =>
  import("@/features/fleet/rnic/hardware/HardwareTab").then((module) => ({ default: module.HardwareTab })),
);
const SeriesPanels = lazy(() =>
  import("@/features/fleet/rnic/SeriesPanels").then((module) => ({ default: module.SeriesPanels })),
);
const VfPanel = lazy(() => import("@/features/fleet/vfs/VfPanel").then((module) => ({ default: module.VfPanel })));
const PlanPanel = lazy(() => import("@/features/plans/PlanPanel").then((module) => ({ default: module.PlanPanel })));
const RnicPolicies = lazy(() =>
  import("@/features/policies/states/RnicPolicies").then((module) => ({ default: module.RnicPolicies })),
);

interface Props {
  host: string;
  pci: string;
  search: RnicSearch;
  /** Steps that the browser's Back should undo are not replaced. */
  onSearch: (search: RnicSearch, replace: boolean) => void;
}

function View({ tab, children }: { tab: string; children: ReactNode }) {
  return (
    <Tabs.Panel value={tab} pt={12}>
      <Suspense fallback={<LoadingPage />}>{children}</Suspense>
    </Tabs.Panel>
  );
}

const TABS: readonly string[] = RNIC_TABS.map(({ tab }) => tab);

export function RnicPage({ host, pci, search, onSearch }: Props) {
  const rnic = useRnic(host, pci);
  const { tab = "overview" } = search;
  const range = useMemo(
    () => parseRange({ range: search.range, from: search.from, to: search.to }),
    [search.range, search.from, search.to],
  );
  const onRange = useCallback(
    (next: RangeSearch) => onSearch({ ...search, range: undefined, from: undefined, to: undefined, ...next }, false),
    [onSearch, search],
  );
  const onVfs = useCallback(
    (next: VfView) => onSearch({ ...search, vfText: undefined, vfUse: undefined, vfSort: undefined, ...next }, true),
    [onSearch, search],
  );
  const onZoom = useCallback(
    (fromMs: number, toMs: number) => onRange(fixedRange(fromMs, toMs, Date.now())),
    [onRange],
  );
  const onZoomOut = useCallback(() => onRange(zoomOut(range, Date.now())), [onRange, range]);
  if (rnic.error && !rnic.data) {
    return (
      <Stack gap={12}>
        <Title order={1}>
          {host} <span style={{ fontFamily: "var(--ww-mono)", fontWeight: 400 }}>{pci}</span>
        </Title>
        <ProblemNotice error={rnic.error} onRetry={() => void rnic.refetch()} />
        <Text size="sm">
          <Link to="/">See which RNICs report</Link>
        </Text>
      </Stack>
    );
  }
  const place = { host, pci };
  const time = { range, onZoom, onZoomOut };
  return (
    <Tabs
      value={tab}
      keepMounted={false}
      onChange={(next) =>
        onSearch({ ...search, tab: RNIC_TABS.find((each) => each.tab === next && next !== TABS[0])?.tab }, false)
      }
    >
      <header className={classes["sticky"]}>
        <QueryState query={rnic} lines={2}>
          {(data) => <RnicHeader rnic={data} tools={<TimePicker range={range} onRange={onRange} />} />}
        </QueryState>
        <Tabs.List className={classes["tabs"]} aria-label={`Views of ${host} ${pci}`}>
          {RNIC_TABS.map((each) => (
            <Tabs.Tab key={each.tab} value={each.tab} py={7}>
              {each.label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </header>
      <View tab="overview">
        <Stack gap={12}>
          <OverviewTab rnic={rnic} {...place} {...time} />
          <ContentionPanel {...place} />
        </Stack>
      </View>
      <View tab="flows">
        <Stack gap={12}>
          <SeriesPanels
            {...place}
            {...time}
            walls={rnic.data?.walls ?? []}
            withoutFlows={rnic.data !== undefined && withoutFlows(rnic.data)}
          />
          <ChainPanel {...place} />
          <PlanPanel {...place} />
          <ExpectedPanel {...place} />
        </Stack>
      </View>
      <View tab="vfs">
        <VfPanel {...place} view={parseVfView({ ...search })} onView={onVfs} />
      </View>
      <View tab="policies">
        <RnicPolicies {...place} range={range} />
      </View>
      <View tab="forecast">
        <ForecastPanel {...place} withoutFlows={rnic.data !== undefined && withoutFlows(rnic.data)} />
      </View>
      <View tab="hardware">
        <HardwareTab
          {...place}
          {...time}
          rnic={rnic.data}
          fields={search.fields === undefined ? undefined : toFields(search.fields)}
          onFields={(next) => onSearch({ ...search, fields: next.join() || NO_FIELDS }, true)}
        />
      </View>
    </Tabs>
  );
}
