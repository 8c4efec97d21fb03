import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import type { IncidentSummary } from "@/lib/api/types";
import { useStates } from "@/lib/api/useStates";
import { unfinished } from "@/lib/states";

const EVERY_MS = 15_000;
const PAGE = 50;

type Place = { host: string; pci: string };

/** An incident that is wider than one RNIC concerns every RNIC of its hosts; a narrow one concerns its own. */
export function concerns(incident: Pick<IncidentSummary, "scope" | "pci">, pci: string): boolean {
  return incident.scope !== "rnic" || incident.pci === "" || incident.pci === pci;
}

/** The newest incidents that concern one RNIC, in any state. */
export function useIncidents({ host, pci }: Place, limit: number) {
  return useQuery({
    queryKey: ["incidents", "of", host, pci, limit],
    queryFn: () => unwrap(api.GET("/api/v1/incidents", { params: { query: { host, limit: PAGE } } })),
    select: (page) => page.items.filter((each) => concerns(each, pci)).slice(0, limit),
    refetchInterval: EVERY_MS,
  });
}

/** The unresolved incidents of one symptom, newest first. */
export function useIncidentsOfSymptom(symptom: string) {
  const state = unfinished(useStates("incident"));
  return useQuery({
    queryKey: ["incidents", "of-symptom", symptom],
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/incidents", {
          params: { query: { symptom: [symptom], state, limit: PAGE } },
        }),
      ),
    refetchInterval: EVERY_MS,
  });
}

/** The newest unresolved incidents of the fleet. */
export function useAllOpenIncidents() {
  const state = unfinished(useStates("incident"));
  return useQuery({
    queryKey: ["incidents", "all-open"],
    queryFn: () => unwrap(api.GET("/api/v1/incidents", { params: { query: { state, limit: PAGE } } })),
  });
}

/** The incidents that concern one RNIC and still need someone, whole, those with their symptom present first. */
export function useOpenIncidents({ host, pci }: Place) {
  const state = unfinished(useStates("incident"));
  return useQuery({
    queryKey: ["incidents", "open-of", host, pci],
    queryFn: async () => {
      const page = await unwrap(api.GET("/api/v1/incidents", { params: { query: { host, state, limit: PAGE } } }));
      const here = page.items.filter((each) => concerns(each, pci));
      const whole = await Promise.all(
        here.map(({ id }) =>
          unwrap(api.GET("/api/v1/incidents/{incident_id}", { params: { path: { incident_id: id } } })),
        ),
      );
      return whole.sort((a, b) => Number(b.active) - Number(a.active));
    },
  });
}

/** One incident, whole; null asks for none. */
export function useIncident(id: string | null) {
  return useQuery({
    queryKey: ["incidents", "one", id],
    enabled: id !== null,
    queryFn: () => unwrap(api.GET("/api/v1/incidents/{incident_id}", { params: { path: { incident_id: id ?? "" } } })),
    refetchInterval: EVERY_MS,
  });
}
