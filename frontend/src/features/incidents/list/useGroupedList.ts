import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { api, unwrap } from "@/lib/api/client";
import type { IncidentSummary } from "@/lib/api/types";
import type { IncidentFilters } from "../filters/filters";
import { type Choices, groupedItems, openGroups } from "./groups";
import type { RowPage } from "./liveList";
import { useListQuery } from "./useIncidentList";

/** Rows of a group at a time. */
const STEP = 100;
/** Most rows that the API returns at once. */
const MOST = 500;
const EVERY_MS = 15_000;

type Rows = { where: ReturnType<typeof useListQuery>["sorted"]; by: IncidentFilters["group"]; value: string };

/** The first `wanted` rows of a group. */
async function fetchRows({ where, by, value }: Rows, wanted: number): Promise<IncidentSummary[]> {
  const rows: IncidentSummary[] = [];
  let cursor: string | null | undefined = null;
  do {
    const limit = Math.min(MOST, wanted - rows.length);
    const page: RowPage<IncidentSummary> = await unwrap(
      api.GET("/api/v1/incidents", { params: { query: { ...where, group_by: by, group: value, limit, cursor } } }),
    );
    rows.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor && rows.length < wanted);
  return rows;
}

/** The incidents in groups: heads with counts, and the rows of those that are open. It follows what happens, since its heads count it. */
export function useGroupedList(filters: IncidentFilters) {
  const client = useQueryClient();
  const by = filters.group;
  const { where, sorted } = useListQuery(filters);
  const [choices, setChoices] = useState<Choices>(new Map());
  const [wanted, setWanted] = useState<ReadonlyMap<string, number>>(new Map());
  const [of, setOf] = useState(by);
  if (of !== by) {
    // What was opened of racks says nothing about hosts.
    setOf(by);
    setChoices(new Map());
    setWanted(new Map());
  }
  const groups = useQuery({
    queryKey: ["incidents", "groups", by, where],
    queryFn: () => unwrap(api.GET("/api/v1/incidents/groups", { params: { query: { ...where, by: by ?? "host" } } })),
    enabled: by !== undefined,
    placeholderData: (previous, query) => (query?.queryKey[2] === by ? previous : undefined),
    refetchInterval: EVERY_MS,
  });
  const open = useMemo(() => openGroups(groups.data?.items ?? [], choices), [groups.data, choices]);
  const keyOf = (value: string, count: number) => ["incidents", "group-rows", by, value, sorted, count] as const;
  const found = useQueries({
    queries: open.map((value) => {
      const count = wanted.get(value) ?? STEP;
      return {
        queryKey: keyOf(value, count),
        queryFn: () => fetchRows({ where: sorted, by, value }, count),
        placeholderData: () => client.getQueryData<IncidentSummary[]>(keyOf(value, count - STEP)),
        refetchInterval: EVERY_MS,
      };
    }),
    combine: (results) => ({
      rows: results.map(({ data }) => data),
      error: results.find(({ error }) => error !== null)?.error ?? null,
    }),
  });
  const items = useMemo(
    () => groups.data && groupedItems(groups.data.items, open, (value) => found.rows[open.indexOf(value)]),
    [groups.data, open, found.rows],
  );
  return {
    items,
    where,
    more: groups.data?.more ?? false,
    error: groups.error ?? found.error,
    updatedAt: groups.dataUpdatedAt,
    refetch: groups.refetch,
    setOpen: (value: string, isOpen: boolean) => setChoices((was) => new Map(was).set(value, isOpen)),
    setAllOpen: (isOpen: boolean) =>
      setChoices(new Map((groups.data?.items ?? []).map(({ value }) => [value, isOpen] as const))),
    showMore: (value: string) => setWanted((was) => new Map(was).set(value, (was.get(value) ?? STEP) + STEP)),
  };
}
