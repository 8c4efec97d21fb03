import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { useState } from "react";
import type { Webhook } from "@/lib/api/types";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { useIsAdmin } from "@/shared/session";
import { DeliveryLog } from "./DeliveryLog";
import type { LogFilters } from "./filters";
import { useWebhooks } from "./queries";
import { WebhookDialog } from "./WebhookDialog";
import { WebhookRow } from "./WebhookRow";

interface Props {
  filters: LogFilters;
  onFilters: (filters: LogFilters) => void;
}

export function WebhooksPage({ filters, onFilters }: Props) {
  const webhooks = useWebhooks();
  const mayManage = useIsAdmin();
  const [editing, setEditing] = useState<Webhook | "new" | null>(null);
  const items = webhooks.data?.items ?? [];
  const shown = items.find((webhook) => webhook.id === filters.webhook) ?? items[0];
  return (
    <Stack gap={12}>
      <Group justify="space-between" wrap="nowrap">
        <div>
          <Title order={1}>Webhooks</Title>
          <Text size="sm" c="dimmed">
            Notify other systems when an incident opens, changes or is resolved. Requests are signed (Standard
            Webhooks). Failed ones are retried with growing pauses, unless the receiver refuses them (most answers 4xx);
            suppressed incidents are not sent.
          </Text>
        </div>
        {mayManage && <Button onClick={() => setEditing("new")}>Add webhook</Button>}
      </Group>
      <Panel title="Subscriptions">
        <QueryState
          query={webhooks}
          lines={4}
          isEmpty={(page) => page.items.length === 0}
          empty={
            <EmptyState title="No webhooks yet">
              {mayManage
                ? "Add one with the URL of your ticket or chat system; a test button sends a signed example."
                : "An admin adds one with the URL of your ticket or chat system."}
            </EmptyState>
          }
        >
          {(page) => (
            <Stack gap={8} component="ul" m={0} p={0} style={{ listStyle: "none" }}>
              {page.items.map((webhook) => (
                <WebhookRow
                  key={webhook.id}
                  webhook={webhook}
                  selected={webhook.id === shown?.id}
                  onSelect={() => onFilters({ webhook: webhook.id })}
                  onEdit={() => setEditing(webhook)}
                />
              ))}
            </Stack>
          )}
        </QueryState>
      </Panel>
      {shown && <DeliveryLog key={shown.id} webhook={shown} filters={filters} onFilters={onFilters} />}
      {editing !== null && (
        <WebhookDialog webhook={editing === "new" ? null : editing} onClose={() => setEditing(null)} />
      )}
    </Stack>
  );
}
