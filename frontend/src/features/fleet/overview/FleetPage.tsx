import { Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { useNames } from "@/lib/api/useCatalogue";
import { useFleet } from "@/lib/stream/useFleet";
import { useNow } from "@/lib/time/useNow";
import { EmptyState } from "@/lib/ui/EmptyState";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { StaleNote } from "@/lib/ui/StaleNote";
import { filterRows, type FleetFilters, isFiltered } from "@/shared/fleet/filters";
import { FleetFilterBar } from "@/shared/fleet/FleetFilterBar";
import { AttentionList } from "./AttentionList";
import { FleetCanvas } from "./canvas/FleetCanvas";
import { summarise } from "./summary";
import { SummaryStrip } from "./SummaryStrip";

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

interface Props {
  filters: FleetFilters;
  onFilters: (filters: FleetFilters) => void;
  onOpen: (host: string, pci: string) => void;
}

/** Home: the whole fleet, and first of all the RNICs that need someone. */
export function FleetPage({ filters, onFilters, onOpen }: Props) {
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
  const open = useCallback((host: string, pci: string) => onOpen(host, pci), [onOpen]);

  if (state.asOf === null) {
    if (query.error) return <ProblemNotice error={query.error} onRetry={() => void query.refetch()} />;
    return <FleetSkeleton />;
  }
  return (
    <Stack gap={10} h="100%">
      {query.error && <StaleNote since={state.asOf} error={query.error} />}
      {columns.host.length > 0 && (
        <>
          <FleetFilterBar columns={columns} shape={shape} filters={filters} onFilters={onFilters} />
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
        <EmptyState title="No RNIC has reported yet">
          Start wallwatch-telegraf on a host with its Kafka address set; its RNICs appear here within one collection
          interval. <Link to="/hosts">See which hosts are enrolled</Link>
        </EmptyState>
      ) : rows.length === 0 ? (
        <EmptyState title="No RNIC matches these filters">
          <Text component="span" size="sm" c="dimmed">
            {columns.host.length} RNICs are hidden. Clear the filters to see them.
          </Text>
        </EmptyState>
      ) : (
        <>
          <AttentionList state={state} summary={summary} now={now} />
          <div style={{ flex: 1, minHeight: 320 }}>
            <FleetCanvas state={state} rows={rows} now={now} wallLabel={names.wall} onOpen={open} />
          </div>
        </>
      )}
    </Stack>
  );
}
