import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, unwrap } from "@/lib/api/client";
import type { IncidentSummary } from "@/lib/api/types";
import { useStates } from "@/lib/api/useStates";
import { unfinished } from "@/lib/states";
import { concerns } from "@/shared/incidents/queries";

const DETAILS_EVERY_MS = 15_000;
const INCIDENTS_EVERY_MS = 15_000;
const INCIDENTS_OF_HOST = 20;
const FIRST_AGENTS_EVERY_MS = 5_000;
/** An installation with more agents than these has RNICs, or another problem. */
const FIRST_AGENTS = 20;

/** Agents of an installation that has no RNIC yet. */
export function useFirstAgents() {
  return useQuery({
    queryKey: ["agents", "first"],
    queryFn: () => unwrap(api.GET("/api/v1/agents", { params: { query: { limit: FIRST_AGENTS } } })),
    refetchInterval: FIRST_AGENTS_EVERY_MS,
  });
}

/** Firmware and the headroom to one limit, which the live fleet leaves out; null while nobody needs them. */
export function useFleetDetails(wall: string | null, enabled: boolean) {
  return useQuery({
    queryKey: ["fleet-details", wall],
    enabled,
    queryFn: () => unwrap(api.GET("/api/v1/fleet/details", { params: { query: wall === null ? {} : { wall } } })),
    placeholderData: keepPreviousData,
    refetchInterval: DETAILS_EVERY_MS,
  });
}

/** How close each card with network functions is to breaking an SLA; asked only while the tiles show it. */
export function useContentionHeadrooms(enabled: boolean) {
  return useQuery({
    queryKey: ["nf", "headrooms"],
    enabled,
    queryFn: () => unwrap(api.GET("/api/v1/nf-headrooms")),
    select: ({ items }) => items,
    refetchInterval: DETAILS_EVERY_MS,
  });
}

/** The unresolved incident of each of these RNICs, the one whose symptom is present first; undefined where there is none. */
export function useIncidentsOfRnics(rnics: readonly { host: string; pci: string }[]): (IncidentSummary | undefined)[] {
  const state = unfinished(useStates("incident"));
  const hosts = useMemo(() => [...new Set(rnics.map(({ host }) => host))], [rnics]);
  const answers = useQueries({
    queries: hosts.map((host) => ({
      queryKey: ["incidents", "open-on", host],
      queryFn: () =>
        unwrap(api.GET("/api/v1/incidents", { params: { query: { host, state, limit: INCIDENTS_OF_HOST } } })),
      refetchInterval: INCIDENTS_EVERY_MS,
    })),
  });
  return rnics.map(({ host, pci }) => {
    const here = answers[hosts.indexOf(host)]?.data?.items.filter((each) => concerns(each, pci)) ?? [];
    return here.find((each) => each.active) ?? here[0];
  });
}
