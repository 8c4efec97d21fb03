import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import type { ExternalRef, Incident } from "@/lib/api/types";
import { newKey } from "@/lib/orderKey";

export type IncidentChange =
  | { kind: "acknowledge" | "unacknowledge" | "resolve" | "reopen" | "derive-again" }
  | { kind: "comment"; text: string }
  | { kind: "assign"; assignee: string | null }
  | { kind: "tickets"; refs: ExternalRef[] }
  | { kind: "merge"; ids: string[] }
  | { kind: "split"; findings: string[] };

function send(id: string, version: number, change: IncidentChange): Promise<Incident> {
  const path = { incident_id: id };
  const header = { "Idempotency-Key": newKey() };
  // A list that is replaced whole must not lose what someone else added meanwhile.
  const match = { "If-Match": `"${version}"` };
  switch (change.kind) {
    case "acknowledge":
      return unwrap(api.POST("/api/v1/incidents/{incident_id}/acknowledge", { params: { path, header } }));
    case "unacknowledge":
      return unwrap(api.POST("/api/v1/incidents/{incident_id}/unacknowledge", { params: { path, header } }));
    case "resolve":
      return unwrap(api.POST("/api/v1/incidents/{incident_id}/resolve", { params: { path, header } }));
    case "reopen":
      return unwrap(api.POST("/api/v1/incidents/{incident_id}/reopen", { params: { path, header } }));
    case "derive-again":
      return unwrap(api.POST("/api/v1/incidents/{incident_id}/derive-again", { params: { path, header } }));
    case "comment":
      return unwrap(
        api.POST("/api/v1/incidents/{incident_id}/comments", { params: { path, header }, body: { text: change.text } }),
      );
    case "assign":
      return unwrap(
        api.PATCH("/api/v1/incidents/{incident_id}", { params: { path }, body: { assignee: change.assignee } }),
      );
    case "tickets":
      return unwrap(
        api.PATCH("/api/v1/incidents/{incident_id}", {
          params: { path, header: match },
          body: { external_refs: change.refs },
        }),
      );
    case "merge":
      return unwrap(
        api.POST("/api/v1/incidents/{incident_id}/merge", {
          params: { path, header },
          body: { incident_ids: change.ids },
        }),
      );
    case "split":
      return unwrap(
        api.POST("/api/v1/incidents/{incident_id}/split", {
          params: { path, header },
          body: { finding_ids: change.findings },
        }),
      );
  }
}

/** One change of one incident. A split answers with the incident that the findings are in now. */
export function useChangeIncident({ id, version }: Pick<Incident, "id" | "version">) {
  const client = useQueryClient();
  return useMutation<Incident, Error, IncidentChange>({
    mutationFn: (change) => send(id, version, change),
    onSuccess: (incident) => {
      client.setQueryData(["incidents", "one", incident.id], incident);
      void client.invalidateQueries({ queryKey: ["incidents"] });
    },
    // Someone else was faster: show what is true now, next to the refusal.
    onError: () => void client.invalidateQueries({ queryKey: ["incidents", "one", id] }),
  });
}
