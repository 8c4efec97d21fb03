import { Checkbox, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrap } from "@/lib/api/client";
import type { Incident } from "@/lib/api/types";
import { useStates } from "@/lib/api/useStates";
import { unfinished } from "@/lib/states";
import { formatAgo } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { EmptyState } from "@/lib/ui/EmptyState";
import { FormDialog } from "@/lib/ui/FormDialog";
import { QueryState } from "@/lib/ui/QueryState";
import { SearchField } from "@/lib/ui/SearchField";
import { whereText } from "@/shared/incidents/incidentText";
import { useChangeIncident } from "./useChangeIncident";

const SHOWN = 20;

/** Those of the same host at first; others by search. */
function useCandidates(incident: Incident, q: string | undefined) {
  const state = unfinished(useStates("incident"));
  const where = q
    ? { q }
    : incident.scope === "rnic" || incident.scope === "host"
      ? { host: incident.host }
      : { symptom: [incident.symptom] };
  return useQuery({
    queryKey: ["incidents", "candidates", where],
    queryFn: () => unwrap(api.GET("/api/v1/incidents", { params: { query: { ...where, state, limit: SHOWN } } })),
    select: (page) => page.items.filter((each) => each.id !== incident.id),
  });
}

/** What belongs to the same trouble becomes one incident; a split undoes it. */
export function MergeDialog({ incident, onClose }: { incident: Incident; onClose: () => void }) {
  const change = useChangeIncident(incident);
  const now = useNow();
  const [q, setQ] = useState<string | undefined>();
  const [chosen, setChosen] = useState<string[]>([]);
  const candidates = useCandidates(incident, q);
  return (
    <FormDialog
      title="Merge others into this incident"
      submit={chosen.length > 0 ? `Merge ${chosen.length}` : "Merge"}
      request={change}
      disabled={chosen.length === 0}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen.length > 0) change.mutate({ kind: "merge", ids: chosen }, { onSuccess: onClose });
      }}
    >
      <Text size="sm">Their findings and timelines move here, and they are closed. Split undoes this.</Text>
      <SearchField
        label="Search incidents to merge"
        placeholder="host, title, ticket …"
        width={320}
        value={q}
        onValue={setQ}
      />
      <QueryState
        query={candidates}
        lines={4}
        isEmpty={(items) => items.length === 0}
        empty={
          <EmptyState title="No other unresolved incidents here">Search for a host, a title or a ticket.</EmptyState>
        }
      >
        {(items) => (
          <Checkbox.Group label="Incidents" value={chosen} onChange={setChosen}>
            <Stack gap={8} mt={6}>
              {items.map((each) => (
                <Checkbox
                  key={each.id}
                  value={each.id}
                  label={`${each.symptoms.join(" ")} ${each.title}`}
                  description={`${whereText(each)} · ${formatAgo(each.opened_at, now)}`}
                />
              ))}
            </Stack>
          </Checkbox.Group>
        )}
      </QueryState>
    </FormDialog>
  );
}
