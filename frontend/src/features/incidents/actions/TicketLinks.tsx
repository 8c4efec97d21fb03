import { Anchor, Button, Group, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import type { ExternalRef, Incident } from "@/lib/api/types";
import { ConfirmButton } from "@/lib/ui/ConfirmButton";
import { FormDialog } from "@/lib/ui/FormDialog";
import { useChangeIncident } from "./useChangeIncident";

function TicketDialog({ incident, onClose }: { incident: Incident; onClose: () => void }) {
  const change = useChangeIncident(incident);
  const [system, setSystem] = useState(incident.external_refs[0]?.system ?? "");
  const [key, setKey] = useState("");
  const [url, setUrl] = useState("");
  const badUrl = url.trim() !== "" && !/^https?:\/\/\S+$/.test(url.trim());
  const submit = () => {
    const ref: ExternalRef = { system: system.trim(), key: key.trim(), url: url.trim() || null };
    const others = incident.external_refs.filter((each) => each.system !== ref.system || each.key !== ref.key);
    change.mutate({ kind: "tickets", refs: [...others, ref] }, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title="Link a ticket"
      submit="Link"
      request={change}
      disabled={!system.trim() || !key.trim() || badUrl}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        if (system.trim() && key.trim() && !badUrl) submit();
      }}
    >
      <TextInput
        label="Ticket system"
        required
        placeholder="jira"
        value={system}
        onChange={(event) => setSystem(event.currentTarget.value)}
      />
      <TextInput
        label="Ticket"
        required
        placeholder="NET-1234"
        value={key}
        onChange={(event) => setKey(event.currentTarget.value)}
      />
      <TextInput
        label="URL"
        placeholder="https://…"
        error={badUrl ? "The URL must start with http:// or https://" : undefined}
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

/** Tickets of other systems; an integration writes them too. */
export function TicketLinks({ incident }: { incident: Incident }) {
  const [opened, dialog] = useDisclosure(false);
  const change = useChangeIncident(incident);
  return (
    <Group gap={8}>
      {incident.external_refs.map((ref) => (
        <Group key={`${ref.system} ${ref.key}`} gap={4} wrap="nowrap">
          <Text size="sm">
            {ref.system}{" "}
            {ref.url ? (
              <Anchor size="sm" href={ref.url} target="_blank" rel="noreferrer">
                {ref.key}
              </Anchor>
            ) : (
              ref.key
            )}
          </Text>
          <ConfirmButton
            label="Unlink"
            question={`Remove the link to ${ref.key}? The ticket itself stays.`}
            confirm="Unlink"
            onConfirm={() =>
              change.mutate({ kind: "tickets", refs: incident.external_refs.filter((each) => each !== ref) })
            }
          />
        </Group>
      ))}
      <Button size="compact-xs" variant="subtle" onClick={dialog.open}>
        Link a ticket
      </Button>
      {change.isError && (
        <Text size="xs" role="alert" style={{ color: "var(--ww-bad)" }}>
          {change.error.message}
        </Text>
      )}
      {opened && <TicketDialog incident={incident} onClose={dialog.close} />}
    </Group>
  );
}
