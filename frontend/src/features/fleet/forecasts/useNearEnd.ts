import { useCallback } from "react";
import type { useFleetForecasts } from "./queries";

/** Fetches the next page when the reader nears the end of the rows. */
export function useNearEnd(pages: ReturnType<typeof useFleetForecasts>) {
  const { hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = pages;
  // After an error the button remains: asking again and again would help nobody.
  const mayFetch = hasNextPage && !isFetching && !isFetchNextPageError;
  return useCallback(() => {
    if (mayFetch) void fetchNextPage();
  }, [mayFetch, fetchNextPage]);
}
