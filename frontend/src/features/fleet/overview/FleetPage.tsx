import { Button, Group, Skeleton, Stack, Text, VisuallyHidden } from "@mantine/core";
import { IconHistory } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useMemo, useRef, useState } from "react";
import { useNames } from "@/lib/api/useCatalogue";
import { useKeys } from "@/lib/keys";
import { useFleet } from "@/lib/stream/useFleet";
import { isSymptom } from "@/lib/symptoms";
import { useNow } from "@/lib/time/useNow";
import { EmptyState } from "@/lib/ui/EmptyState";
import type { FleetState } from "@/lib/stream/fleetStore";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { StaleNote } from "@/lib/ui/StaleNote";
import { CommonStrip } from "@/shared/fleet/common/CommonStrip";
import { filterRows, type FleetFilters, isFiltered, toList } from "@/shared/fleet/filters";
import { FleetFilterBar } from "@/shared/fleet/FleetFilterBar";
import { AttentionList } from "./AttentionList";
import { byRow, headroomsByRow } from "./byRow";
import { FleetCanvas } from "./canvas/FleetCanvas";
import { type Arrangement, NO_RACK } from "./canvas/layout";
import { colouringOf } from "./colouring";
import { useContentionHeadrooms, useFleetDetails } from "./queries";
import { RateLegend } from "./RateLegend";
import { minuteAgo, MINUTES } from "./replay/minutes";
import { useReplay } from "./replay/useReplay";
import { summarise } from "./summary";
import { SummaryStrip } from "./SummaryStrip";
import { CONTENTION, type FleetView, limitOf, wallOf } from "./view";
import { ViewMenu } from "./ViewMenu";

// Neither is there on most visits.
const FirstHost = lazy(() => import("./FirstHost").then((module) => ({ default: module.FirstHost })));
const ReplayBar = lazy(() => import("./replay/ReplayBar").then((module) => ({ default: module.ReplayBar })));

function FleetSkeleton() {
  return (
    <Stack gap={10} h="100%" role="status" aria-busy="true" aria-label="Loading the fleet">
      <Group gap="xs">
        {[220, 120, 120, 120, 120].map((width, i) => (
          <Skeleton key={i} height={28} width={width} />
        ))}
      </Group>
      <Skeleton height={62} />
      <Skeleton height={70} />
      <Skeleton style={{ flex: 1 }} mih={300} />
    </Stack>
  );
}

const MISSING = { rack: NO_RACK, model: "unknown model", firmware: "unknown firmware", tenant: "no known tenant" };
const SEVERAL = "several tenants";

/**
 * How the view draws the fleet. What the live columns leave out is fetched only for a view that needs it.
 *
 * The columns are changed in place, which React does not see: `shape` counts changes of identities, `version` those of values, and each
 * memo names the one that concerns it.
 */
function useDrawn(
  state: FleetState,
  view: FleetView,
  sick: readonly number[],
  past: readonly (number | null)[] | null,
) {
  const { columns, version, shape } = state;
  const { group = "rack", order } = view;
  const wall = wallOf(view);
  // What was predicted in a past minute is not stored.
  const contended = limitOf(view) === CONTENTION && view.at === undefined;
  const fetched = group === "firmware" || group === "tenant" ? group : null;
  const details = useFleetDetails(wall, fetched !== null || (wall !== null && past === null));
  const found = details.data;
  const groups = useMemo(() => {
    if (fetched === null) return null;
    if (!found) return [];
    const tenants = found.tenants.map((of) => (of.length > 1 ? SEVERAL : (of[0] ?? null)));
    return byRow(state, found, fetched === "firmware" ? found.firmware : tenants);
  }, [fetched, found, shape]); // eslint-disable-line react-hooks/exhaustive-deps
  const contention = useContentionHeadrooms(contended).data;
  const present = useMemo(() => {
    if (contended) return contention ? headroomsByRow(state, contention) : null;
    return wall !== null && found ? byRow(state, found, found.headroom) : null;
  }, [contended, wall, found, contention, shape]); // eslint-disable-line react-hooks/exhaustive-deps
  // Tiles move when the set of the sick changes, not with each of their values.
  const key = order === "sick" ? [...sick].sort((a, b) => a - b).join() : "";
  const arrangement = useMemo<Arrangement>(
    () => ({
      groups: groups ?? (group === "model" ? columns.model : columns.rack),
      missing: MISSING[group],
      ...(order === "sick" ? { sick: new Set(sick) } : {}),
    }),
    [columns, groups, group, order, key], // eslint-disable-line react-hooks/exhaustive-deps
  );
  const headrooms = past ?? present;
  const colouring = useMemo(
    () => colouringOf(columns, view, headrooms),
    [columns, view, headrooms, version], // eslint-disable-line react-hooks/exhaustive-deps
  );
  return { arrangement, colouring };
}

interface Props {
  filters: FleetFilters;
  onFilters: (filters: FleetFilters) => void;
  view: FleetView;
  onView: (view: FleetView) => void;
  onOpen: (host: string, pci: string) => void;
}

/** Home: the whole fleet, and first of all the RNICs that need someone. */
export function FleetPage({ filters, onFilters, view, onView, onOpen }: Props) {
  const { query, state: live } = useFleet();
  const clock = useNow();
  const { at: minute } = view;
  const replay = useReplay(live, minute, wallOf(view));
  const state = replay.state ?? live;
  const now = replay.state?.asOf ?? clock;
  const onMinute = useCallback((next: string | undefined) => onView({ ...view, at: next }), [view, onView]);
  const names = useNames();
  const { columns, version, shape } = state;
  const all = useMemo(() => filterRows(columns, {}), [columns, shape]); // eslint-disable-line react-hooks/exhaustive-deps
  const matching = useMemo(() => filterRows(columns, filters), [columns, filters, version]); // eslint-disable-line react-hooks/exhaustive-deps
  // The layout depends on which rows are shown, not on their values: keep the array while it names the same rows.
  const key = isFiltered(filters) ? matching.join() : `all:${shape}`;
  const rows = useMemo(() => (isFiltered(filters) ? matching : all), [key]); // eslint-disable-line react-hooks/exhaustive-deps
  const summary = useMemo(() => summarise(state, rows, now), [state, rows, now]);
  const { arrangement, colouring } = useDrawn(state, view, summary.sick, replay.headrooms);
  const [goTo, setGoTo] = useState<{ row: number } | null>(null);
  const stood = useRef(-1);
  const step = (by: number) => {
    const { sick } = summary;
    if (sick.length === 0) return;
    stood.current = (((sick.indexOf(stood.current) + by) % sick.length) + sick.length) % sick.length;
    const row = sick[stood.current] ?? 0;
    stood.current = row;
    setGoTo({ row });
  };
  useKeys({ n: () => step(1), N: () => step(-1) });
  const open = useCallback((host: string, pci: string) => onOpen(host, pci), [onOpen]);

  if (state.asOf === null) {
    if (query.error) return <ProblemNotice error={query.error} onRetry={() => void query.refetch()} />;
    return <FleetSkeleton />;
  }
  return (
    <Stack gap={10} h="100%">
      <VisuallyHidden component="h1">Fleet</VisuallyHidden>
      {query.error && <StaleNote since={state.asOf} error={query.error} />}
      {columns.host.length > 0 && (
        <>
          <FleetFilterBar columns={columns} shape={shape} filters={filters} onFilters={onFilters}>
            <ViewMenu view={view} onView={onView} />
            <Button
              variant={minute === undefined ? "default" : "filled"}
              leftSection={<IconHistory size={14} />}
              aria-pressed={minute !== undefined}
              onClick={() => onMinute(minute === undefined ? minuteAgo(MINUTES, clock) : undefined)}
            >
              Replay
            </Button>
            {colouring.highest !== null && <RateLegend highest={colouring.highest} />}
          </FleetFilterBar>
          {minute !== undefined && (
            <Suspense fallback={<Skeleton height={42} />}>
              <ReplayBar
                minute={minute}
                now={clock}
                waiting={replay.query.isFetching}
                error={replay.query.error}
                onMinute={onMinute}
              />
            </Suspense>
          )}
          <Group gap={8} wrap="nowrap" align="flex-start">
            <div style={{ flex: 1, minWidth: 0 }}>
              <SummaryStrip summary={summary} filters={filters} onFilters={onFilters} />
            </div>
            {isFiltered(filters) && rows.length > 0 && (
              <Button
                size="compact-sm"
                variant="default"
                style={{ flex: "none" }}
                renderRoot={(props) => <Link to="/rollouts/new" search={filters} {...props} />}
              >
                Roll out a remedy to {rows.length === 1 ? "it" : `these ${rows.length.toLocaleString("en")}`}…
              </Button>
            )}
          </Group>
        </>
      )}
      {columns.host.length === 0 ? (
        <Suspense fallback={<Skeleton height={300} />}>
          <FirstHost />
        </Suspense>
      ) : rows.length === 0 ? (
        <EmptyState title="No RNIC matches these filters">
          <Text component="span" size="sm" c="dimmed">
            {columns.host.length} RNICs are hidden. Clear the filters to see them.
          </Text>
        </EmptyState>
      ) : (
        <>
          <AttentionList
            state={state}
            summary={summary}
            now={now}
            past={replay.state !== null}
            onShowAll={() => onFilters({ ...filters, sick: "1" })}
          />
          <CommonStrip
            anySick={minute === undefined && summary.symptoms.length > 0}
            symptoms={toList(filters.symptom).filter(isSymptom)}
            onShow={({ dimension, value }) =>
              dimension === "change"
                ? null
                : dimension === "firmware" || dimension === "tenant"
                  ? () => onView({ ...view, group: dimension, order: "sick" })
                  : () => onFilters({ ...filters, [dimension]: value })
            }
          />
          <div style={{ flex: 1, minHeight: 320 }}>
            <FleetCanvas
              state={state}
              rows={rows}
              now={now}
              colouring={colouring}
              arrangement={arrangement}
              goTo={goTo}
              wallLabel={names.wall}
              onOpen={open}
            />
          </div>
        </>
      )}
    </Stack>
  );
}
