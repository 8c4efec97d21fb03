import { Button, Group, Switch, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Webhook } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { formatAgo, formatDuration } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { ConfirmButton } from "@/lib/ui/ConfirmButton";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { StatusMark } from "@/lib/ui/StatusMark";
import { useIsAdmin, useMayChange } from "@/shared/session";
import { testText, TONES } from "./attempts";
import { useChangeWebhook, useDeleteWebhook, useDelivery, useReplayDeadLetters, useTestWebhook } from "./queries";
import { shownAddress } from "./receivers";
import { formatLabel, routeText } from "./routing";

/** What became of the test that was just sent; its result shows as soon as the receiver has answered. */
function TestResult({ webhookId, deliveryId }: { webhookId: string; deliveryId: string }) {
  const { data, error } = useDelivery(webhookId, deliveryId);
  const client = useQueryClient();
  const attempts = data?.attempts.length ?? 0;
  useEffect(() => {
    if (attempts > 0) void client.invalidateQueries({ queryKey: ["webhooks", webhookId, "deliveries"] });
  }, [client, webhookId, attempts]);
  return (
    <Group gap={6} role="status" aria-label="Test result" mt={4} pl={13}>
      <Text size="xs" c="dimmed">
        Test
      </Text>
      {data ? (
        <StatusMark tone={data.state === "pending" && data.attempts.length > 0 ? "warn" : TONES[data.state]}>
          {testText(data)}
        </StatusMark>
      ) : (
        <Text size="xs">{error ? "result unavailable" : "sending"}</Text>
      )}
    </Group>
  );
}

interface Props {
  webhook: Webhook;
  selected: boolean;
  onSelect: () => void;
  onEdit: () => void;
}

function Health({ webhook }: { webhook: Webhook }) {
  const now = useNow();
  if (!webhook.enabled)
    return <StatusMark tone="quiet">{webhook.disabled_reason ? `off: ${webhook.disabled_reason}` : "off"}</StatusMark>;
  if (webhook.failing_since !== null)
    return (
      <StatusMark tone="bad">{`failing for ${formatDuration(now - Date.parse(webhook.failing_since))}`}</StatusMark>
    );
  return (
    <StatusMark tone={webhook.last_delivery_at === null ? "quiet" : "good"}>
      {webhook.last_delivery_at === null ? "nothing sent yet" : "delivers"}
    </StatusMark>
  );
}

export function WebhookRow({ webhook, selected, onSelect, onEdit }: Props) {
  const now = useNow();
  const mayManage = useIsAdmin();
  const maySend = useMayChange();
  const change = useChangeWebhook();
  const remove = useDeleteWebhook();
  const test = useTestWebhook();
  const replay = useReplayDeadLetters();
  const error = change.error ?? remove.error ?? test.error ?? replay.error;
  return (
    <li data-webhook={webhook.name}>
      <Group
        justify="space-between"
        wrap="nowrap"
        style={{ borderLeft: `3px solid ${selected ? "var(--ww-accent)" : "transparent"}`, paddingLeft: 10 }}
      >
        <div style={{ minWidth: 0 }}>
          <Group gap={10}>
            <Text size="sm" fw={600}>
              {webhook.name}
            </Text>
            <Health webhook={webhook} />
            {webhook.last_delivery_at !== null && (
              <Text size="xs" c="dimmed">
                last delivery {formatAgo(webhook.last_delivery_at, now)}
              </Text>
            )}
          </Group>
          <Text size="xs" c="dimmed" truncate>
            {formatLabel(webhook.format)} · {shownAddress(webhook.url)} · {webhook.events.join(", ")}
          </Text>
          <Text size="xs" c="dimmed">
            {routeText(webhook)}
          </Text>
        </div>
        <Group gap={6} wrap="nowrap">
          {mayManage && (
            <Switch
              aria-label={`${webhook.name} enabled`}
              checked={webhook.enabled}
              onChange={(event) => change.mutate({ id: webhook.id, change: { enabled: event.currentTarget.checked } })}
            />
          )}
          {maySend && (
            <Button
              size="compact-xs"
              variant="default"
              loading={test.isPending}
              onClick={() => test.mutate(webhook.id, { onSuccess: onSelect })}
            >
              Send test
            </Button>
          )}
          {maySend && webhook.dead_letters > 0 && (
            <ConfirmButton
              label={`${webhook.dead_letters} failed`}
              question={`Resend ${plural(webhook.dead_letters, "delivery", "deliveries")} that ${webhook.name} never accepted? Ids stay the same.`}
              confirm="Send again"
              loading={replay.isPending}
              onConfirm={() => replay.mutate(webhook.id, { onSuccess: onSelect })}
            />
          )}
          <Button size="compact-xs" variant="default" aria-pressed={selected} onClick={onSelect}>
            Log
          </Button>
          {mayManage && (
            <>
              <Button size="compact-xs" variant="default" onClick={onEdit}>
                Edit
              </Button>
              <ConfirmButton
                label="Delete"
                question={`Delete ${webhook.name} and its delivery log?`}
                confirm="Delete"
                loading={remove.isPending}
                onConfirm={() => remove.mutate(webhook.id)}
              />
            </>
          )}
        </Group>
      </Group>
      {test.data && <TestResult key={test.data.id} webhookId={webhook.id} deliveryId={test.data.id} />}
      {error && <ProblemNotice error={error} />}
    </li>
  );
}
