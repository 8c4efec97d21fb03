import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import { usePages } from "@/lib/api/usePages";
import type { ForecastFilters } from "./filters";

/** Forecasts are computed once per minute. */
const EVERY_MS = 20_000;
const PAGE = 200;
/** More pages than these are fetched again only on request: each refetch fetches all of them. */
const LIVE_PAGES = 5;

export function useForecast(host: string, pci: string) {
  return useQuery({
    queryKey: ["rnics", host, pci, "forecast"],
    queryFn: () => unwrap(api.GET("/api/v1/rnics/{host}/{pci}/forecast", { params: { path: { host, pci } } })),
    refetchInterval: EVERY_MS,
  });
}

export function usePastForecasts(host: string, pci: string, target: string, horizonS: number, hours: number) {
  return useQuery({
    queryKey: ["rnics", host, pci, "forecasts", target, horizonS, hours],
    queryFn: () => {
      const from = new Date(Date.now() - hours * 3_600_000).toISOString();
      return unwrap(
        api.GET("/api/v1/rnics/{host}/{pci}/forecasts", {
          params: { path: { host, pci }, query: { target, horizon_s: horizonS, from } },
        }),
      );
    },
    refetchInterval: hours > 6 ? 6 * EVERY_MS : EVERY_MS,
  });
}

/** RNICs that are at a limit or likely to reach one, or all others. */
export function useFleetForecasts(filters: ForecastFilters, expected: boolean) {
  return usePages(
    ["forecasts", filters, expected],
    (cursor) =>
      unwrap(
        api.GET("/api/v1/forecasts", {
          params: {
            query: {
              within_s: 60 * (filters.within ?? 60),
              expected,
              sort: filters.sort ?? "time_to_wall",
              declining: filters.declining,
              wall: filters.wall,
              rack: filters.rack,
              model: filters.model,
              limit: PAGE,
              cursor,
            },
          },
        }),
      ),
    (pages) => (pages > LIVE_PAGES ? false : EVERY_MS),
  );
}

export function useForecastCounts({ within, wall, rack, model }: ForecastFilters) {
  return useQuery({
    queryKey: ["forecasts", "counts", within, wall, rack, model],
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/forecasts/counts", {
          params: { query: { within_s: 60 * (within ?? 60), wall, rack, model } },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: EVERY_MS,
  });
}

/** History of the models; fetched when it is opened. */
export function useModelChanges(enabled: boolean) {
  return useQuery({
    queryKey: ["forecast-models", "changes"],
    queryFn: () => unwrap(api.GET("/api/v1/forecast-models/changes")),
    refetchInterval: 60_000,
    enabled,
  });
}

export function useForecastModels() {
  return useQuery({
    queryKey: ["forecast-models"],
    queryFn: () => unwrap(api.GET("/api/v1/forecast-models")),
    refetchInterval: 60_000,
  });
}
