import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import type { Incident } from "@/lib/api/types";
import { usePages } from "@/lib/api/usePages";
import { statesOf, type IncidentFilters } from "./filters";

const EVERY_MS = 15_000;
const COUNTED = 100;
const PAGE = 50;

/** The newest incidents of one RNIC, in any state. */
export function useIncidents(where: { host: string; pci: string }, limit: number) {
  return useQuery({
    queryKey: ["incidents", "of", where, limit],
    queryFn: () => unwrap(api.GET("/api/v1/incidents", { params: { query: { ...where, limit } } })),
    refetchInterval: EVERY_MS,
  });
}

/** The incidents of one RNIC that still need someone, whole, those with their symptom present first. */
export function useOpenIncidents(where: { host: string; pci: string }) {
  return useQuery({
    queryKey: ["incidents", "open-of", where],
    queryFn: async () => {
      const page = await unwrap(api.GET("/api/v1/incidents", { params: { query: { ...where, state: statesOf("active"), limit: PAGE } } }));
      const whole = await Promise.all(page.items.map(({ id }) => unwrap(api.GET("/api/v1/incidents/{incident_id}", { params: { path: { incident_id: id } } }))));
      return whole.sort((a, b) => Number(b.active) - Number(a.active));
    },
  });
}

export function useIncidentPages(filters: IncidentFilters) {
  const { state, ...where } = filters;
  return usePages(
    ["incidents", "list", filters],
    (cursor) => unwrap(api.GET("/api/v1/incidents", { params: { query: { ...where, state: statesOf(state), limit: PAGE, cursor } } })),
    EVERY_MS,
  );
}

/** For the navigation: how many incidents are open, and whether there are more than were counted. */
export function useOpenIncidentCount(): { count: number; more: boolean } | undefined {
  const { data } = useQuery({
    queryKey: ["incidents", "open-count"],
    queryFn: () => unwrap(api.GET("/api/v1/incidents", { params: { query: { state: ["open"], limit: COUNTED } } })),
    refetchInterval: EVERY_MS,
  });
  return data && { count: data.items.length, more: Boolean(data.next_cursor) };
}

export function useIncident(id: string) {
  return useQuery({
    queryKey: ["incidents", "one", id],
    queryFn: () => unwrap(api.GET("/api/v1/incidents/{incident_id}", { params: { path: { incident_id: id } } })),
    refetchInterval: EVERY_MS,
  });
}

export type IncidentChange = { kind: "acknowledge" } | { kind: "resolve" } | { kind: "comment"; text: string };

export function useChangeIncident(id: string) {
  const client = useQueryClient();
  const params = { path: { incident_id: id } };
  return useMutation<Incident, Error, IncidentChange>({
    mutationFn: (change) => {
      if (change.kind === "acknowledge") return unwrap(api.POST("/api/v1/incidents/{incident_id}/acknowledge", { params }));
      if (change.kind === "resolve") return unwrap(api.POST("/api/v1/incidents/{incident_id}/resolve", { params }));
      return unwrap(api.POST("/api/v1/incidents/{incident_id}/comments", { params, body: { text: change.text } }));
    },
    onSuccess: (incident) => {
      client.setQueryData(["incidents", "one", id], incident);
      void client.invalidateQueries({ queryKey: ["incidents"] });
    },
  });
}
