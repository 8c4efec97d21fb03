import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import { useStates } from "@/lib/api/useStates";
import { namesWhere, needsAttention } from "@/lib/states";

const EVERY_MS = 15_000;

/** For the navigation: how many incidents wait for someone. */
export function useOpenIncidentCount(): number | undefined {
  const state = namesWhere(useStates("incident"), needsAttention);
  const { data } = useQuery({
    queryKey: ["incidents", "open-count"],
    // The navigation is there before the catalogue is.
    enabled: state.length > 0,
    queryFn: () => unwrap(api.GET("/api/v1/incidents/counts", { params: { query: { state } } })),
    refetchInterval: EVERY_MS,
  });
  return data?.total;
}

const params = (id: string) => ({ params: { path: { incident_id: id } } });

export function useSimilar(id: string) {
  return useQuery({
    queryKey: ["incidents", "similar", id],
    queryFn: () => unwrap(api.GET("/api/v1/incidents/{incident_id}/similar", params(id))),
    staleTime: 60_000,
  });
}

export function useContainers(id: string) {
  return useQuery({
    queryKey: ["incidents", "containers", id],
    queryFn: () => unwrap(api.GET("/api/v1/incidents/{incident_id}/containers", params(id))),
    refetchInterval: 4 * EVERY_MS,
  });
}

/** Changes before it began never change, so they are fetched once. */
export function useBefore(id: string) {
  return useQuery({
    queryKey: ["incidents", "before", id],
    queryFn: () => unwrap(api.GET("/api/v1/incidents/{incident_id}/before", params(id))),
    staleTime: 60_000,
  });
}
