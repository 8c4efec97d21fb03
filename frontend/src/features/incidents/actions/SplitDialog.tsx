import { Checkbox, Stack, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Incident } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { FormDialog } from "@/lib/ui/FormDialog";
import { useChangeIncident } from "./useChangeIncident";

/** Findings that have another reason leave for an incident of their own, which is then shown. */
export function SplitDialog({ incident, onClose }: { incident: Incident; onClose: () => void }) {
  const change = useChangeIncident(incident);
  const navigate = useNavigate();
  const { time } = useTimeFormat();
  const [chosen, setChosen] = useState<string[]>([]);
  const allowed = chosen.length > 0 && chosen.length < incident.findings.length;
  return (
    <FormDialog
      title="Split the incident"
      submit={chosen.length > 0 ? `Split off ${chosen.length}` : "Split off"}
      request={change}
      disabled={!allowed}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        if (allowed) {
          change.mutate(
            { kind: "split", findings: chosen },
            {
              onSuccess: (made) => {
                onClose();
                void navigate({ to: "/incidents/$id", params: { id: made.id } });
              },
            },
          );
        }
      }}
    >
      <Text size="sm">The selected findings move to a new incident. At least one must stay.</Text>
      <Checkbox.Group label="Findings to move" value={chosen} onChange={setChosen}>
        <Stack gap={8} mt={6}>
          {incident.findings.map((finding) => (
            <Checkbox
              key={finding.finding_id}
              value={finding.finding_id}
              label={`${finding.symptom} ${finding.title}`}
              description={`${finding.host} ${finding.pci} · since ${time(finding.started_at)}`}
            />
          ))}
        </Stack>
      </Checkbox.Group>
    </FormDialog>
  );
}
