import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { useCallback, useMemo, useState } from "react";
import { plural } from "@/lib/format";
import { useKeys } from "@/lib/keys";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { CommonStrip } from "@/shared/fleet/common/CommonStrip";
import { useSession } from "@/shared/session";
import { ExportMenu } from "../filters/ExportMenu";
import { type IncidentFilters, symptomsOf } from "../filters/filters";
import { IncidentFilterBar } from "../filters/IncidentFilterBar";
import { SavedViews } from "../filters/SavedViews";
import { matchersFor } from "../silences/fromIncidents";
import { SilenceDialog } from "../silences/SilenceDialog";
import type { BulkAction } from "./bulk";
import { BulkBar } from "./BulkBar";
import { BulkDialog } from "./BulkDialog";
import { GroupChoice } from "./GroupChoice";
import { incidentsOf, type ListItem } from "./groups";
import { IncidentTable } from "./IncidentTable";
import { listKeys } from "./listKeys";
import { NoIncidents } from "./NoIncidents";
import { useBulk } from "./useBulk";
import { useGroupedList } from "./useGroupedList";
import { useIncidentCounts, useIncidentList } from "./useIncidentList";
import { PeekPanel } from "./PeekPanel";
import { sharedFilter } from "./sharedFilter";
import { useSelection } from "./useSelection";

interface Props {
  filters: IncidentFilters;
  onFilters: (filters: IncidentFilters) => void;
  onOpen: (id: string) => void;
}

/** All incidents that match, to be worked through by keyboard: the list stands still until its reader requests new incidents. */
export function IncidentsPage({ filters, onFilters, onOpen }: Props) {
  const isGrouped = filters.group !== undefined;
  const list = useIncidentList(filters, !isGrouped);
  const grouped = useGroupedList(filters);
  const counts = useIncidentCounts(filters);
  const me = useSession().data?.user.username ?? "";
  const { bulk, undoLast } = useBulk();
  const flat = useMemo(() => list.rows?.map((incident): ListItem => ({ kind: "row", incident })), [list.rows]);
  const items = isGrouped ? grouped.items : flat;
  const rows = useMemo(() => incidentsOf(items ?? []), [items]);
  const shown = useMemo(() => rows.map((row) => row.id), [rows]);
  const selection = useSelection(shown);
  const [asked, setAsked] = useState<BulkAction | null>(null);
  const [silencing, setSilencing] = useState(false);
  const [peeking, setPeeking] = useState(false);
  const total = counts.data?.total;
  const targets = useMemo(
    () => rows.filter((row) => (selection.ids.size > 0 ? selection.ids.has(row.id) : row.id === selection.cursor)),
    [rows, selection.ids, selection.cursor],
  );

  const run = useCallback(
    (action: BulkAction, more: { assignee?: string | null; text?: string } = {}) => {
      setAsked(null);
      bulk.mutate(
        {
          action,
          target: selection.all ? { filter: list.where } : { ids: targets.map((row) => row.id) },
          rows: targets,
          ...more,
        },
        { onSuccess: selection.clear },
      );
    },
    [bulk, list.where, selection, targets],
  );
  const act = useCallback(
    (action: BulkAction) => {
      if (targets.length === 0) return;
      if (selection.all || action === "assign" || action === "comment") setAsked(action);
      else run(action);
    },
    [run, selection.all, targets.length],
  );
  const [moved, setMoved] = useState<{ id: string } | null>(null);
  useKeys(
    listKeys({
      selection,
      onMove: (id) => setMoved({ id }),
      onAct: act,
      onOpen,
      onPeek: () => setPeeking(!peeking),
      onUnpeek: () => {
        setPeeking(false);
        return peeking;
      },
      onSilence: () => setSilencing(targets.length > 0),
      onFresh: list.showFresh,
      onUndo: undoLast,
    }),
  );

  const { pages } = list;
  const shownList = isGrouped ? grouped : { ...list, refetch: pages.refetch };
  const { fetchNextPage } = pages;
  // After an error the button remains: asking again and again would help nobody.
  const mayFetch = !isGrouped && pages.hasNextPage && !pages.isFetching && !pages.isFetchNextPageError;
  const onNearEnd = useCallback(() => {
    if (mayFetch) void fetchNextPage();
  }, [mayFetch, fetchNextPage]);
  return (
    <Stack gap={12}>
      <Group justify="space-between">
        <Group gap={12} align="baseline">
          <Title order={1}>Incidents</Title>
          <Text size="sm" c="dimmed">
            {total === undefined ? "" : `${plural(total, "incident")} ${total === 1 ? "matches" : "match"}`}
          </Text>
        </Group>
        <Group gap={8}>
          <SavedViews filters={filters} onFilters={onFilters} />
          <ExportMenu query={list.where} total={total} />
        </Group>
      </Group>
      <CommonStrip
        anySick={total !== undefined && total > 0}
        symptoms={symptomsOf(filters)}
        onShow={(property) => {
          const shared = sharedFilter(property);
          return shared && (() => onFilters({ ...filters, ...shared }));
        }}
      />
      <IncidentFilterBar filters={filters} counts={counts.data?.by} onFilters={onFilters} />
      <Panel
        title={
          filters.sort === "severity"
            ? "By severity"
            : filters.sort === "updated_at"
              ? filters.order === "asc"
                ? "Longest unchanged first"
                : "Last changed first"
              : filters.order === "asc"
                ? "Oldest first"
                : "Newest first"
        }
        actions={
          <GroupChoice
            by={filters.group}
            onGroup={(group) => onFilters({ ...filters, group })}
            onAll={grouped.setAllOpen}
          />
        }
        aside={
          !isGrouped &&
          list.fresh > 0 && (
            <Button size="compact-xs" onClick={list.showFresh} aria-live="polite">
              {list.fresh.toLocaleString("en")} new: show ( n )
            </Button>
          )
        }
        flush
        long
      >
        <div style={{ padding: items && !shownList.error ? 0 : 12 }}>
          <QueryState
            query={{
              data: items,
              error: shownList.error,
              dataUpdatedAt: shownList.updatedAt,
              refetch: shownList.refetch,
            }}
            lines={8}
            isEmpty={(lines) => lines.length === 0}
            empty={<NoIncidents filters={filters} />}
          >
            {(lines) => (
              <IncidentTable
                items={lines}
                filters={filters}
                selection={selection}
                total={total}
                moved={moved}
                onNearEnd={onNearEnd}
                onOpenGroup={grouped.setOpen}
                onMoreOfGroup={grouped.showMore}
                onSort={(sort, order) =>
                  onFilters({
                    ...filters,
                    sort: sort === "opened_at" ? undefined : sort,
                    order: order === "desc" ? undefined : order,
                  })
                }
              />
            )}
          </QueryState>
        </div>
        {isGrouped && grouped.more && (
          <Text size="sm" c="dimmed" p={8}>
            Only the first 200 groups are listed, those with the most critical incidents first. Filter to see others.
          </Text>
        )}
        {!isGrouped && pages.hasNextPage && (
          <Group justify="center" p={8}>
            <Button variant="default" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
              Show more ({rows.length.toLocaleString("en")}
              {total === undefined ? "" : ` of ${total.toLocaleString("en")}`} shown)
            </Button>
          </Group>
        )}
      </Panel>
      <BulkBar
        selection={selection}
        shown={rows.length}
        total={total}
        busy={bulk.isPending}
        onAction={act}
        onSilence={() => setSilencing(true)}
      />
      {asked && (
        <BulkDialog
          asked={asked === "assign" || asked === "comment" ? asked : "confirm"}
          action={asked}
          count={selection.all ? (total ?? targets.length) : targets.length}
          me={me}
          onClose={() => setAsked(null)}
          onDone={(more) => run(asked, more)}
        />
      )}
      {peeking && selection.cursor !== null && (
        <PeekPanel key={selection.cursor} id={selection.cursor} onClose={() => setPeeking(false)} />
      )}
      {silencing && <SilenceDialog initial={{ matchers: matchersFor(targets) }} onClose={() => setSilencing(false)} />}
    </Stack>
  );
}
