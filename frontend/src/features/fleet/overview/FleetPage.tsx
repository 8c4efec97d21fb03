import { Button, Group, Skeleton, Stack, Text, VisuallyHidden } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useCallback, useMemo, useRef, useState } from "react";
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
import { FirstHost } from "./FirstHost";
import { type Arrangement, NO_RACK } from "./canvas/layout";
import { colouringOf } from "./colouring";
import { useContentionHeadrooms, useFleetDetails } from "./queries";
import { RateLegend } from "./RateLegend";
import { summarise } from "./summary";
import { SummaryStrip } from "./SummaryStrip";
import { CONTENTION, type FleetView, limitOf } from "./view";
import { ViewMenu } from "./ViewMenu";

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

const MISSING = { rack: NO_RACK, model: "unknown model", firmware: "unknown firmware" };

/**
 * How the view draws the fleet. What the live columns leave out is fetched only for a view that needs it.
 *
 * The columns are changed in place, which React does not see: `shape` counts changes of identities, `version` those of values, and each
 * memo names the one that concerns it.
 */
function useDrawn(state: FleetState, view: FleetView, sick: readonly number[]) {
  const { columns, version, shape } = state;
  const { group = "rack", order } = view;
  const limit = limitOf(view);
  const wall = limit === CONTENTION ? null : limit;
  const details = useFleetDetails(wall, group === "firmware" || wall !== null);
  const contention = useContentionHeadrooms(limit === CONTENTION).data;
  const found = details.data;
  const firmware = useMemo(
    () => (group === "firmware" ? (found ? byRow(state, found, found.firmware) : []) : null),
    [group, found, shape], // eslint-disable-line react-hooks/exhaustive-deps
  );
  const headrooms = useMemo(() => {
    if (limit === CONTENTION) return contention ? headroomsByRow(state, contention) : null;
    return wall !== null && found ? byRow(state, found, found.headroom) : null;
  }, [limit, wall, found, contention, shape]); // eslint-disable-line react-hooks/exhaustive-deps
  // Tiles move when the set of the sick changes, not with each of their values.
  const key = order === "sick" ? [...sick].sort((a, b) => a - b).join() : "";
  const arrangement = useMemo<Arrangement>(
    () => ({
      groups: firmware ?? (group === "model" ? columns.model : columns.rack),
      missing: MISSING[group],
      ...(order === "sick" ? { sick: new Set(sick) } : {}),
    }),
    [columns, firmware, group, order, key], // eslint-disable-line react-hooks/exhaustive-deps
  );
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
  const { query, state } = useFleet();
  const now = useNow();
  const names = useNames();
  const { columns, version, shape } = state;
  const all = useMemo(() => filterRows(columns, {}), [columns, shape]); // eslint-disable-line react-hooks/exhaustive-deps
  const matching = useMemo(() => filterRows(columns, filters), [columns, filters, version]); // eslint-disable-line react-hooks/exhaustive-deps
  // The layout depends on which rows are shown, not on their values: keep the array while it names the same rows.
  const key = isFiltered(filters) ? matching.join() : `all:${shape}`;
  const rows = useMemo(() => (isFiltered(filters) ? matching : all), [key]); // eslint-disable-line react-hooks/exhaustive-deps
  const summary = useMemo(() => summarise(state, rows, now), [state, rows, now]);
  const { arrangement, colouring } = useDrawn(state, view, summary.sick);
  const [goTo, setGoTo] = useState<{ row: number } | null>(null);
  const at = useRef(-1);
  const step = (by: number) => {
    const { sick } = summary;
    if (sick.length === 0) return;
    at.current = (((sick.indexOf(at.current) + by) % sick.length) + sick.length) % sick.length;
    const row = sick[at.current] ?? 0;
    at.current = row;
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
            {colouring.highest !== null && <RateLegend highest={colouring.highest} />}
          </FleetFilterBar>
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
        <FirstHost />
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
            onShowAll={() => onFilters({ ...filters, sick: "1" })}
          />
          <CommonStrip
            anySick={summary.symptoms.length > 0}
            symptoms={toList(filters.symptom).filter(isSymptom)}
            onShow={({ dimension, value }) =>
              dimension === "change"
                ? null
                : dimension === "firmware"
                  ? () => onView({ ...view, group: "firmware", order: "sick" })
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
