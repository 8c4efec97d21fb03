import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import type { SloReport } from "@/lib/api/types";
import { type RangeName, type RangeSearch, RANGES, refreshEvery, toInterval } from "@/lib/time/range";

/** Breakage must be on the page within three seconds after it begins. */
const LIVE_EVERY_MS = 1_500;
/** A strip of many VFs is large, and what is broken now stands in the table anyway. */
const STRIP_EVERY_MS = 3_000;

/** As many as the API gives at once: filters look through these. */
const MOST_RNICS = 1000;

const KEY = "isolation";

/** A long range is asked for seldom: a second more or less does not change it, and the answer counts the whole fleet. */
function fleetEvery(range: RangeName): number {
  return RANGES[range] <= RANGES["1h"] ? 2_000 : RANGES[range] <= RANGES["24h"] ? 10_000 : 30_000;
}

export function useFleetIsolation(range: RangeName) {
  return useQuery({
    queryKey: [KEY, "fleet", range],
    queryFn: () => {
      const { from, to } = toInterval({ range }, Date.now());
      return unwrap(
        api.GET("/api/v1/isolation/fleet", { params: { query: { since: from, until: to, limit: MOST_RNICS } } }),
      );
    },
    placeholderData: keepPreviousData,
    refetchInterval: fleetEvery(range),
  });
}

export function useRnicIsolation(host: string, pci: string) {
  return useQuery({
    queryKey: [KEY, "rnic", host, pci],
    queryFn: () => unwrap(api.GET("/api/v1/isolation/rnics/{host}/{pci}", { params: { path: { host, pci } } })),
    refetchInterval: LIVE_EVERY_MS,
  });
}

export interface StripRange {
  seconds: number;
  stepS: number;
}

export function useStrip(host: string, pci: string, { seconds, stepS }: StripRange) {
  return useQuery({
    queryKey: [KEY, "strip", host, pci, seconds, stepS],
    queryFn: () => {
      const until = Math.ceil(Date.now() / 1000 / stepS) * stepS;
      return unwrap(
        api.GET("/api/v1/isolation/rnics/{host}/{pci}/strip", {
          params: {
            path: { host, pci },
            query: {
              since: new Date((until - seconds) * 1000).toISOString(),
              until: new Date(until * 1000).toISOString(),
              step_s: stepS,
            },
          },
        }),
      );
    },
    placeholderData: keepPreviousData,
    refetchInterval: stepS === 1 ? STRIP_EVERY_MS : 15_000,
  });
}

export function useVfIsolation(host: string, pci: string, vf: number, range: RangeSearch) {
  const { live, seconds } = toInterval(range, 0);
  return useQuery({
    queryKey: [KEY, "vf", host, pci, vf, range],
    queryFn: () => {
      const { from, to } = toInterval(range, Date.now());
      return unwrap(
        api.GET("/api/v1/isolation/rnics/{host}/{pci}/vfs/{vf}", {
          params: { path: { host, pci, vf }, query: { since: from, until: to } },
        }),
      );
    },
    placeholderData: keepPreviousData,
    refetchInterval: live ? refreshEvery(seconds) : false,
  });
}

export function useReport(month: string, by: "vf" | "tenant", objective: number) {
  return useQuery({
    queryKey: [KEY, "report", month, by, objective],
    // The same path answers in CSV where that is asked for, so its type has both.
    queryFn: async () =>
      (await unwrap(api.GET("/api/v1/isolation/report", { params: { query: { month, by, objective } } }))) as SloReport,
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  });
}
