import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import type { IncidentSummary } from "@/lib/api/types";
import { statesOf } from "./filters";

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
  return useQuery({
    queryKey: ["incidents", "of-symptom", symptom],
    queryFn: () => unwrap(api.GET("/api/v1/incidents", { params: { query: { symptom: [symptom], state: statesOf("unresolved"), limit: PAGE } } })),
    refetchInterval: EVERY_MS,
  });
}

/** The incidents that concern one RNIC and still need someone, whole, those with their symptom present first. */
export function useOpenIncidents({ host, pci }: Place) {
  return useQuery({
    queryKey: ["incidents", "open-of", host, pci],
    queryFn: async () => {
      const page = await unwrap(api.GET("/api/v1/incidents", { params: { query: { host, state: statesOf("unresolved"), limit: PAGE } } }));
      const here = page.items.filter((each) => concerns(each, pci));
      const whole = await Promise.all(here.map(({ id }) => unwrap(api.GET("/api/v1/incidents/{incident_id}", { params: { path: { incident_id: id } } }))));
      return whole.sort((a, b) => Number(b.active) - Number(a.active));
    },
  });
}

/** For the navigation: how many incidents wait for someone. */
export function useOpenIncidentCount(): number | undefined {
  const { data } = useQuery({
    queryKey: ["incidents", "open-count"],
    queryFn: () => unwrap(api.GET("/api/v1/incidents/counts", { params: { query: { state: ["open", "reopened"] } } })),
    refetchInterval: EVERY_MS,
  });
  return data?.total;
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

const params = (id: string) => ({ params: { path: { incident_id: id } } });

export function useSimilar(id: string) {
  return useQuery({ queryKey: ["incidents", "similar", id], queryFn: () => unwrap(api.GET("/api/v1/incidents/{incident_id}/similar", params(id))), staleTime: 60_000 });
}

export function useContainers(id: string) {
  return useQuery({ queryKey: ["incidents", "containers", id], queryFn: () => unwrap(api.GET("/api/v1/incidents/{incident_id}/containers", params(id))), refetchInterval: 4 * EVERY_MS });
}

/** What happened before it began stands still, so it is asked for once. */
export function useBefore(id: string) {
  return useQuery({ queryKey: ["incidents", "before", id], queryFn: () => unwrap(api.GET("/api/v1/incidents/{incident_id}/before", params(id))), staleTime: 60_000 });
}
