import { Button, Code, CopyButton, Group, Modal, Stack, Table, Text } from "@mantine/core";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { QueryState } from "@/lib/ui/QueryState";
import { AttemptOutcome } from "./AttemptOutcome";
import { useDelivery } from "./queries";

/** The body in a form that people read; one that is no JSON as it is. */
export function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

/** One delivery: the very body that is sent, and every attempt. */
export function DeliveryDialog({
  webhookId,
  deliveryId,
  onClose,
}: {
  webhookId: string;
  deliveryId: string;
  onClose: () => void;
}) {
  const delivery = useDelivery(webhookId, deliveryId);
  const { time } = useTimeFormat();
  return (
    <Modal opened onClose={onClose} title="Delivery" size="xl">
      <QueryState query={delivery} lines={12}>
        {(shown) => (
          <Stack gap={12}>
            <Text size="sm">
              {shown.event} · {shown.about || "–"}
            </Text>
            <Text size="xs" c="dimmed">
              webhook-id <Code>{shown.id}</Code>: identical for every attempt and replay, so that receivers can drop
              duplicates
            </Text>
            {shown.attempts.length > 0 && (
              <HeadedTable label="Attempts" titles={["At", "Outcome"]} bordered>
                {shown.attempts.map((attempt, i) => (
                  <Table.Tr key={i}>
                    <Table.Td>{time(attempt.at)}</Table.Td>
                    <Table.Td>
                      <AttemptOutcome attempt={attempt} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </HeadedTable>
            )}
            <Group justify="space-between">
              <Text size="sm" fw={600}>
                Body
              </Text>
              <CopyButton value={shown.body}>
                {({ copied, copy }) => (
                  <Button size="compact-xs" variant="default" onClick={copy}>
                    {copied ? "Copied" : "Copy as sent"}
                  </Button>
                )}
              </CopyButton>
            </Group>
            <Code block tabIndex={0} aria-label="Body" mah={420} style={{ overflow: "auto" }}>
              {readable(shown.body)}
            </Code>
          </Stack>
        )}
      </QueryState>
    </Modal>
  );
}
