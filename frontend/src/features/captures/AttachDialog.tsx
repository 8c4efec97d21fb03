import { Select, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { FormDialog } from "@/lib/ui/FormDialog";
import { useAllOpenIncidents } from "@/shared/incidents/queries";
import { useAttachCapture } from "./queries";

interface Props {
  id: string;
  incident: string | undefined;
  onClose: () => void;
}

/** Choose an open incident; the capture's verdict becomes an entry of its timeline. */
export function AttachDialog({ id, incident, onClose }: Props) {
  const open = useAllOpenIncidents();
  const [chosen, setChosen] = useState<string | null>(incident ?? null);
  const attach = useAttachCapture(id);
  const options = (open.data?.items ?? []).map((each) => ({ value: each.id, label: each.title }));
  if (incident && !options.some(({ value }) => value === incident))
    options.unshift({ value: incident, label: "The incident that you came from" });
  return (
    <FormDialog
      title="Attach to an incident"
      submit="Attach"
      request={attach}
      disabled={chosen === null}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen !== null) attach.mutate(chosen);
      }}
      outcome={
        attach.data && (
          <Text size="sm" role="status">
            Added to the timeline of{" "}
            <Link to="/incidents/$id" params={{ id: attach.data.incident_id }}>
              the incident
            </Link>
            : {attach.data.text}
          </Text>
        )
      }
    >
      <Select
        label="Incident"
        required
        searchable
        placeholder="Choose an open incident"
        nothingFoundMessage="No open incident"
        data={options}
        value={chosen}
        onChange={setChosen}
      />
    </FormDialog>
  );
}
