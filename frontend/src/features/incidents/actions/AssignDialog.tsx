import { Button } from "@mantine/core";
import { useState } from "react";
import type { Incident } from "@/lib/api/types";
import { FormDialog } from "@/lib/ui/FormDialog";
import { AssigneeField } from "./AssigneeField";
import { useChangeIncident } from "./useChangeIncident";

/** Whose it is. */
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
      <AssigneeField value={name} onChange={setName} />
      {incident.assignee !== null && (
        <Button variant="default" style={{ alignSelf: "flex-start" }} onClick={() => give(null)}>
          Unassign
        </Button>
      )}
    </FormDialog>
  );
}
