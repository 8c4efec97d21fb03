import { type InfiniteData, keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";

interface Page<T> {
  items: T[];
  next_cursor?: string | null;
}

function allItems<T>(data: InfiniteData<Page<T>>): T[] {
  return data.pages.flatMap((page) => page.items);
}

/**
 * A list of the API, one page and then as many as the reader asks for. Such lists stay as long as someone can read, so
 * their rows need not be virtualised (those of lists as long as the fleet are). Of such a long list the refetch may depend on
 * how many pages are loaded, since all of them are fetched again.
 */
export function usePages<T>(
  queryKey: readonly unknown[],
  fetchPage: (cursor: string | null) => Promise<Page<T>>,
  refetchInterval: number | false | ((pages: number) => number | false) = false,
) {
  return useInfiniteQuery({
    queryKey,
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) => fetchPage(pageParam),
    getNextPageParam: (page) => page.next_cursor ?? null,
    select: allItems,
    placeholderData: keepPreviousData,
    refetchInterval:
      typeof refetchInterval === "function"
        ? (query) => refetchInterval(query.state.data?.pages.length ?? 0)
        : refetchInterval,
  });
}

/** What a panel needs to know of such a list. */
export type Pages<T> = Pick<
  ReturnType<typeof usePages<T>>,
  "data" | "error" | "dataUpdatedAt" | "refetch" | "hasNextPage" | "isFetchingNextPage" | "fetchNextPage"
>;
