import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { api, unwrap } from "@/lib/api/client";
import type { IncidentSummary } from "@/lib/api/types";
import { useStates } from "@/lib/api/useStates";
import { useSession } from "@/shared/session";
import { type IncidentFilters, toQuery } from "../filters/filters";
import { latestSeq, patched, type RowPage, unseen } from "./liveList";

const PAGE = 100;
const EVERY_MS = 15_000;
/** Of the change feed at a time. */
const CHANGES = 500;

/** Not under `incidents`, which each event of the stream makes old: this list moves only when its reader says so. */
const LIST = "incident-list";

/** What the filters select, and the list of it in its order. */
export function useListQuery(filters: IncidentFilters) {
  const me = useSession().data?.user.username;
  const table = useStates("incident");
  return useMemo(() => {
    const where = toQuery(filters, me, table);
    return { where, sorted: { ...where, sort: filters.sort, order: filters.order } };
  }, [filters, me, table]);
}

type Query = ReturnType<typeof useListQuery>["sorted"];

const headKey = (query: Query) => ["incidents", "head", query];

/** The rows as they stood when the list was loaded, page after page. */
function useFrozenPages(key: readonly unknown[], query: Query, enabled: boolean) {
  const client = useQueryClient();
  return useInfiniteQuery({
    queryKey: key,
    enabled,
    initialPageParam: null as string | null,
    queryFn: async ({ pageParam }) => {
      const page = await unwrap(
        api.GET("/api/v1/incidents", { params: { query: { ...query, limit: PAGE, cursor: pageParam } } }),
      );
      // The first page is also the newest one for a while: it is not asked for twice.
      if (pageParam === null) client.setQueryData(headKey(query), page);
      return page;
    },
    getNextPageParam: (page) => page.next_cursor ?? null,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    // A reader who comes back expects the present, not the list of an hour ago.
    refetchOnMount: "always",
    gcTime: 0,
  });
}

/** Brings what changed into the rows that are shown, at the places where they stand. */
function usePatches(key: readonly unknown[], rows: readonly IncidentSummary[] | undefined) {
  const client = useQueryClient();
  const read = useRef({ key, since: 0 });
  useQuery({
    queryKey: ["incidents", "changes", key],
    enabled: rows !== undefined && rows.length > 0,
    queryFn: async () => {
      if (read.current.key !== key || read.current.since === 0) read.current = { key, since: latestSeq(rows ?? []) };
      for (;;) {
        const page = await unwrap(
          api.GET("/api/v1/incidents/changes", { params: { query: { since: read.current.since, limit: CHANGES } } }),
        );
        read.current.since = page.next_since;
        client.setQueryData<InfiniteData<RowPage<IncidentSummary>>>(
          key,
          (data) => (data && patched(data, page.items)) ?? data,
        );
        if (page.items.length < CHANGES) return read.current.since;
      }
    },
    refetchInterval: EVERY_MS,
    gcTime: 0,
  });
}

/** The incident list: still under the pointer, its rows' states live, newcomers announced. */
export function useIncidentList(filters: IncidentFilters, enabled = true) {
  const client = useQueryClient();
  const { where, sorted: query } = useListQuery(filters);
  const key = useMemo(() => [LIST, query], [query]);
  const pages = useFrozenPages(key, query, enabled);
  const head = useQuery({
    queryKey: headKey(query),
    queryFn: () => unwrap(api.GET("/api/v1/incidents", { params: { query: { ...query, limit: PAGE } } })),
    enabled: enabled && pages.data !== undefined && !pages.isPlaceholderData,
    staleTime: EVERY_MS,
    refetchInterval: EVERY_MS,
  });
  const rows = useMemo(() => pages.data?.pages.flatMap((page) => page.items), [pages.data]);
  usePatches(key, !enabled || pages.isPlaceholderData ? undefined : rows);
  const fresh = useMemo(
    () =>
      rows && head.data && !pages.isPlaceholderData
        ? unseen(rows, head.data.items, !pages.hasNextPage && !head.data.next_cursor).length
        : 0,
    [rows, head.data, pages.hasNextPage, pages.isPlaceholderData],
  );
  const showFresh = useCallback(() => void client.resetQueries({ queryKey: key }), [client, key]);
  const showHead = useCallback(() => {
    const page = head.data;
    if (page) client.setQueryData(key, { pages: [page], pageParams: [null] });
    else showFresh();
  }, [client, key, head.data, showFresh]);
  // An empty list has no row that could move under the pointer: the first incident appears by itself.
  const firstArrived = rows?.length === 0 && fresh > 0;
  useEffect(() => {
    if (firstArrived) showHead();
  }, [firstArrived, showHead]);
  return {
    pages,
    rows,
    fresh,
    showFresh: showHead,
    where,
    error: pages.error ?? head.error,
    updatedAt: Math.max(pages.dataUpdatedAt, head.dataUpdatedAt),
  };
}

export function useIncidentCounts(filters: IncidentFilters) {
  const { where: query } = useListQuery(filters);
  return useQuery({
    queryKey: ["incidents", "counts", query],
    queryFn: () => unwrap(api.GET("/api/v1/incidents/counts", { params: { query } })),
    placeholderData: keepPreviousData,
    refetchInterval: EVERY_MS,
  });
}
