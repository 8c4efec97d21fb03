import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";

const COMMON_EVERY_MS = 30_000;

/** What hosts with these symptoms share, or with any. */
export function useCommonalities(symptoms: readonly string[], enabled: boolean) {
  return useQuery({
    queryKey: ["fleet-commonalities", symptoms],
    enabled,
    queryFn: () => unwrap(api.GET("/api/v1/fleet/commonalities", { params: { query: { symptom: [...symptoms] } } })),
    placeholderData: keepPreviousData,
    refetchInterval: COMMON_EVERY_MS,
  });
}
