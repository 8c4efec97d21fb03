import { Checkbox, Group, PasswordInput, Select, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import type { Webhook } from "@/lib/api/types";
import { FormDialog } from "@/lib/ui/FormDialog";
import { SecretOnce } from "@/lib/ui/SecretOnce";
import { defaultEvents, eventGroups } from "./events";
import { useChangeWebhook, useCreateWebhook } from "./queries";
import { addressError, addressFor, receiverOf, sentAddress, shownAddress } from "./receivers";
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
  const receiver = receiverOf(format);
  const keyStored = webhook?.format === format && webhook.credential_fingerprint !== null;
  const form = useForm({
    initialValues: {
      name: webhook?.name ?? "",
      url: shownAddress(webhook?.url ?? ""),
      credential: "",
      events: (webhook?.events ?? defaultEvents(tables)) as string[],
    },
    validate: {
      name: (value) => (value.trim() ? null : "Enter a name"),
      url: (value) => addressError(format, value),
      credential: (value) => (receiver.key && !keyStored && !value.trim() ? "Enter the key" : null),
      events: (value) => (value.length > 0 ? null : "Choose at least one event"),
    },
  });
  const choose = (value: Webhook["format"]) => {
    form.setFieldValue("url", addressFor(value, format, form.values.url));
    setFormat(value);
    setRoute(fitRoute(value, route));
  };
  const submit = form.onSubmit((values) => {
    const body = {
      name: values.name.trim(),
      url: sentAddress(format, values.url),
      ...(receiver.key && values.credential.trim() !== "" && { credential: values.credential.trim() }),
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
        create.data &&
        (format === "email" ? (
          <Text size="sm">E-mails go to {shownAddress(create.data.url)}. Send a test to see that they arrive.</Text>
        ) : (
          <SecretOnce
            label="Signing secret"
            secret={create.data.secret}
            hint="The receiver verifies the webhook-signature header with it (Standard Webhooks)."
          />
        ))
      }
    >
      <Group gap={10} grow align="flex-start">
        <TextInput label="Name" placeholder="Ticket system" {...form.getInputProps("name")} />
        <Select
          label="Format"
          allowDeselect={false}
          value={format}
          onChange={(value) => value !== null && choose(value as Webhook["format"])}
          data={FORMATS.map(({ value, label }) => ({ value, label }))}
        />
      </Group>
      <Text size="xs" c="dimmed" mt={-6}>
        {FORMATS.find((each) => each.value === format)?.about}
      </Text>
      <TextInput label={receiver.label} placeholder={receiver.placeholder} {...form.getInputProps("url")} />
      {receiver.key && (
        <PasswordInput
          label={receiver.key.label}
          description={
            keyStored ? `Stored (${webhook.credential_fingerprint}); leave empty to keep it` : receiver.key.hint
          }
          autoComplete="off"
          {...form.getInputProps("credential")}
        />
      )}
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
