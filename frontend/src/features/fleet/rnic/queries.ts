import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import { type RangeSearch, refreshEvery, toInterval } from "@/lib/time/range";

/** Each limit's own field too, for its recent past. */
export const SERIES_FIELDS = [
  "tx_gbps",
  "rx_gbps",
  "flows_offloaded",
  "flows_software",
  "q_egress",
  "q_ingress",
  "flow_insertions_per_s",
  "reoffloads_per_s",
  "reoffload_ratio",
  "counter_gap_p95_s",
  "counter_gap_max_s",
  "max_idle_ms",
  "masks_egress",
  "masks_ingress",
  "encap_contexts",
] as const;

const STATE_EVERY_MS = 3_000;
const MASKS_EVERY_MS = 10_000;

export function useRnic(host: string, pci: string) {
  return useQuery({
    queryKey: ["rnics", host, pci],
    queryFn: () => unwrap(api.GET("/api/v1/rnics/{host}/{pci}", { params: { path: { host, pci } } })),
    refetchInterval: STATE_EVERY_MS,
  });
}

export function useSeries(
  host: string,
  pci: string,
  range: RangeSearch,
  fields: readonly string[] = SERIES_FIELDS,
  { enabled = true } = {},
) {
  const { live, seconds } = toInterval(range, 0);
  return useQuery({
    queryKey: ["rnics", host, pci, "series", range, fields],
    enabled,
    queryFn: () => {
      const { from, to } = toInterval(range, Date.now());
      return unwrap(
        api.GET("/api/v1/rnics/{host}/{pci}/series", {
          params: { path: { host, pci }, query: { fields: fields.join(","), from, to } },
        }),
      );
    },
    placeholderData: keepPreviousData,
    refetchInterval: live ? refreshEvery(seconds) : false,
  });
}

export function useFindings(host: string, pci: string, range: RangeSearch) {
  const { live } = toInterval(range, 0);
  return useQuery({
    queryKey: ["rnics", host, pci, "findings", range],
    queryFn: () => {
      const { from, to } = toInterval(range, Date.now());
      return unwrap(
        api.GET("/api/v1/rnics/{host}/{pci}/findings", { params: { path: { host, pci }, query: { from, to } } }),
      );
    },
    placeholderData: keepPreviousData,
    refetchInterval: live ? MASKS_EVERY_MS : false,
  });
}

/** What changed on the RNIC and its host: the marks on the charts. */
export function useChanges(host: string, pci: string, range: RangeSearch) {
  const { live } = toInterval(range, 0);
  return useQuery({
    queryKey: ["rnics", host, pci, "changes", range],
    queryFn: () => {
      const { from, to } = toInterval(range, Date.now());
      return unwrap(
        api.GET("/api/v1/rnics/{host}/{pci}/changes", { params: { path: { host, pci }, query: { from, to } } }),
      );
    },
    placeholderData: keepPreviousData,
    refetchInterval: live ? MASKS_EVERY_MS : false,
  });
}

export function useMasks(host: string, pci: string) {
  return useQuery({
    queryKey: ["rnics", host, pci, "masks"],
    queryFn: () => unwrap(api.GET("/api/v1/rnics/{host}/{pci}/masks", { params: { path: { host, pci } } })),
    refetchInterval: MASKS_EVERY_MS,
  });
}
