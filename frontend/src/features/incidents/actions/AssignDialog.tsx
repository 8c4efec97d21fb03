import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Incident } from "@/lib/api/types";
import { FormDialog } from "@/lib/ui/FormDialog";
import { useChangeIncident } from "./useChangeIncident";

/** Whose it is. Any name will do: not everyone who repairs hosts signs in here. */
export function AssignDialog({ incident, onClose }: { incident: Incident; onClose: () => void }) {
  const change = useChangeIncident(incident);
  const [name, setName] = useState(incident.assignee ?? "");
  const give = (assignee: string | null) => change.mutate({ kind: "assign", assignee }, { onSuccess: onClose });
  return (
    <FormDialog
      title="Assign the incident"
      submit="Assign"
      request={change}
      disabled={!name.trim()}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim()) give(name.trim());
      }}
    >
      <TextInput
        label="Assignee"
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {incident.assignee !== null && (
        <Button variant="default" style={{ alignSelf: "flex-start" }} onClick={() => give(null)}>
          Unassign
        </Button>
      )}
    </FormDialog>
  );
}
