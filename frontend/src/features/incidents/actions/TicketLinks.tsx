import { Anchor, Button, Group, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import type { ExternalRef, Incident } from "@/lib/api/types";
import { ConfirmButton } from "@/lib/ui/ConfirmButton";
import { FormDialog } from "@/lib/ui/FormDialog";
import { ticketOf } from "./ticketUrl";
import { useChangeIncident } from "./useChangeIncident";

/** One pasted address is enough: it names the system and the ticket. */
function TicketDialog({ incident, onClose }: { incident: Incident; onClose: () => void }) {
  const change = useChangeIncident(incident);
  const [url, setUrl] = useState("");
  const ref = ticketOf(url);
  const submit = (added: ExternalRef) => {
    const others = incident.external_refs.filter((each) => each.system !== added.system || each.key !== added.key);
    change.mutate({ kind: "tickets", refs: [...others, added] }, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title="Link a ticket"
      submit="Link"
      request={change}
      disabled={!ref}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        if (ref) submit(ref);
      }}
    >
      <TextInput
        data-autofocus
        label="URL of the ticket"
        type="url"
        required
        placeholder="https://…"
        description={ref ? `Linked as ${ref.system} ${ref.key}` : "Paste it from the ticket system's page"}
        error={url.trim() !== "" && !ref ? "The URL must start with http:// or https://" : undefined}
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
