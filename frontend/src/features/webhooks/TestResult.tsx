import { Group, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { StatusMark } from "@/lib/ui/StatusMark";
import { testText, TONES } from "./attempts";
import { useDelivery } from "./queries";

/** What became of the test that was just sent; it speaks for itself as soon as the receiver has answered. */
export function TestResult({ webhookId, deliveryId }: { webhookId: string; deliveryId: string }) {
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
      {data ? <StatusMark tone={data.state === "pending" && data.attempts.length > 0 ? "warn" : TONES[data.state]}>{testText(data)}</StatusMark> : <Text size="xs">{error ? "its result can't be read now" : "is being sent"}</Text>}
    </Group>
  );
}
