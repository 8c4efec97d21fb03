import { Checkbox, Group, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import type { Webhook } from "@/lib/api/types";
import { FormDialog } from "@/lib/ui/FormDialog";
import { SecretOnce } from "@/lib/ui/SecretOnce";
import { defaultEvents, eventGroups } from "./events";
import { useChangeWebhook, useCreateWebhook } from "./queries";
import { RouteFields, type RouteValues } from "./RouteFields";
import { FORMATS, fitRoute } from "./routing";
import { useEventTables } from "./useEventTables";

type EventName = Webhook["events"][number];

function routeOf(webhook: Webhook | null): RouteValues {
  const {
    matchers = [],
    group_by = [],
    group_wait_s = 0,
    group_interval_s = 0,
    repeat_interval_s = null,
  } = webhook ?? {};
  return { matchers, group_by, group_wait_s, group_interval_s, repeat_interval_s };
}

/** Creates a webhook, or changes one. The secret is shown once, after it was created. */
export function WebhookDialog({ webhook, onClose }: { webhook: Webhook | null; onClose: () => void }) {
  const create = useCreateWebhook();
  const change = useChangeWebhook();
  const tables = useEventTables();
  const [format, setFormat] = useState<Webhook["format"]>(webhook?.format ?? "native");
  const [route, setRoute] = useState(() => routeOf(webhook));
  const choose = (value: Webhook["format"]) => {
    setFormat(value);
    setRoute(fitRoute(value, route));
  };
  const form = useForm({
    initialValues: {
      name: webhook?.name ?? "",
      url: webhook?.url ?? "",
      events: (webhook?.events ?? defaultEvents(tables)) as string[],
    },
    validate: {
      name: (value) => (value.trim() ? null : "Enter a name"),
      url: (value) => (/^https?:\/\/\S+$/.test(value) ? null : "Enter a URL that starts with http:// or https://"),
      events: (value) => (value.length > 0 ? null : "Choose at least one event"),
    },
  });
  const submit = form.onSubmit((values) => {
    const body = {
      name: values.name.trim(),
      url: values.url.trim(),
      events: values.events as EventName[],
      format,
      ...route,
    };
    if (webhook) change.mutate({ id: webhook.id, change: body }, { onSuccess: onClose });
    else create.mutate(body);
  });
  return (
    <FormDialog
      title={webhook ? `Edit ${webhook.name}` : "Add webhook"}
      submit={webhook ? "Save" : "Add"}
      request={webhook ? change : create}
      onSubmit={submit}
      onClose={onClose}
      outcome={
        create.data && (
          <SecretOnce
            label="Signing secret"
            secret={create.data.secret}
            hint="The receiver verifies the webhook-signature header with it (Standard Webhooks)."
          />
        )
      }
    >
      <Group gap={10} grow align="flex-start">
        <TextInput label="Name" placeholder="Ticket system" {...form.getInputProps("name")} />
        <TextInput
          label="URL"
          placeholder="https://tickets.example.org/hooks/wallwatch"
          {...form.getInputProps("url")}
        />
      </Group>
      <div>
        <Text size="sm" fw={500} id="webhook-format">
          Format
        </Text>
        <SegmentedControl
          aria-labelledby="webhook-format"
          value={format}
          onChange={(value) => choose(value as Webhook["format"])}
          data={FORMATS.map(({ value, label }) => ({ value, label }))}
        />
        <Text size="xs" c="dimmed" mt={4}>
          {FORMATS.find((each) => each.value === format)?.about}
        </Text>
      </div>
      <Checkbox.Group label="Events" {...form.getInputProps("events")}>
        <Stack gap={8} mt={4}>
          {eventGroups(tables).map((group) => (
            <div key={group.title} role="group" aria-label={group.title}>
              <Text size="xs" c="dimmed" mb={4}>
                {group.title}
              </Text>
              <Group gap={16}>
                {group.events.map((event) => (
                  <Checkbox key={event.value} value={event.value} label={event.label} />
                ))}
              </Group>
            </div>
          ))}
        </Stack>
      </Checkbox.Group>
      <Stack gap={12} role="group" aria-label="Routing">
        <RouteFields values={route} onChange={(changed) => setRoute(fitRoute(format, changed))} />
      </Stack>
    </FormDialog>
  );
}
