import { Checkbox, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { Webhook } from "@/lib/api/types";
import { FormDialog } from "@/lib/ui/FormDialog";
import { SecretOnce } from "@/lib/ui/SecretOnce";
import { useChangeWebhook, useCreateWebhook } from "./queries";

const EVENTS = [
  { value: "incident.opened", label: "An incident opens" },
  { value: "incident.updated", label: "An incident changes" },
  { value: "incident.resolved", label: "An incident is resolved" },
] as const;
type EventName = (typeof EVENTS)[number]["value"];

/** Makes a webhook, or changes one. The secret is shown after making, and never again. */
export function WebhookDialog({ webhook, onClose }: { webhook: Webhook | null; onClose: () => void }) {
  const create = useCreateWebhook();
  const change = useChangeWebhook();
  const form = useForm({
    initialValues: {
      name: webhook?.name ?? "",
      url: webhook?.url ?? "",
      events: (webhook?.events ?? EVENTS.map((event) => event.value)) as string[],
    },
    validate: {
      name: (value) => (value.trim() ? null : "Give it a name"),
      url: (value) => (/^https?:\/\/\S+$/.test(value) ? null : "Enter an address that begins with http:// or https://"),
      events: (value) => (value.length > 0 ? null : "Choose at least one event"),
    },
  });
  const submit = form.onSubmit((values) => {
    const body = { name: values.name.trim(), url: values.url.trim(), events: values.events as EventName[] };
    if (webhook) change.mutate({ id: webhook.id, change: body }, { onSuccess: onClose });
    else create.mutate(body);
  });
  return (
    <FormDialog
      title={webhook ? `Edit ${webhook.name}` : "Add a webhook"}
      submit={webhook ? "Save" : "Add"}
      request={webhook ? change : create}
      onSubmit={submit}
      onClose={onClose}
      outcome={create.data && <SecretOnce label="Signing secret" secret={create.data.secret} hint="The receiver verifies the webhook-signature header with it (Standard Webhooks)." />}
    >
      <TextInput label="Name" placeholder="Ticket system" {...form.getInputProps("name")} />
      <TextInput label="Address" placeholder="https://tickets.example.org/hooks/wallwatch" {...form.getInputProps("url")} />
      <Checkbox.Group label="Send when" {...form.getInputProps("events")}>
        <Stack gap={6} mt={4}>
          {EVENTS.map((event) => (
            <Checkbox key={event.value} value={event.value} label={event.label} />
          ))}
        </Stack>
      </Checkbox.Group>
    </FormDialog>
  );
}
