import { Button, Table, Text } from "@mantine/core";
import type { Delivery, Webhook } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { StatusMark, type Tone } from "@/lib/ui/StatusMark";
import { useDeliveries, useRetryDelivery } from "./queries";

const TONES: Readonly<Record<Delivery["state"], Tone>> = { pending: "quiet", delivered: "good", failed: "bad" };

/** `HTTP 500 in 12 ms` or the error that came instead of an answer. */
export function attemptText(attempt: Delivery["attempts"][number]): string {
  const what = attempt.status === null ? (attempt.error ?? "no answer") : `HTTP ${attempt.status}${attempt.error ? ` (${attempt.error})` : ""}`;
  return `${what} in ${attempt.duration_ms} ms`;
}

export function DeliveryLog({ webhook }: { webhook: Webhook }) {
  const deliveries = useDeliveries(webhook.id);
  const retry = useRetryDelivery(webhook.id);
  const { time, clock } = useTimeFormat();
  return (
    <Panel title={`Deliveries of ${webhook.name}`} flush>
      {retry.isError && <ProblemNotice error={retry.error} />}
      <div style={{ padding: deliveries.data ? 0 : 12 }}>
        <QueryState query={deliveries} lines={5} isEmpty={(page) => page.items.length === 0} empty={<EmptyState title="Nothing was sent yet">Send a test, or wait for the next incident.</EmptyState>}>
          {(page) => (
            <Table aria-label="Deliveries">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>State</Table.Th>
                  <Table.Th>Event</Table.Th>
                  <Table.Th>Created</Table.Th>
                  <Table.Th>Attempts</Table.Th>
                  <Table.Th>Last attempt</Table.Th>
                  <Table.Th>Next</Table.Th>
                  <Table.Th>Retry</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {page.items.map((delivery) => {
                  const last = delivery.attempts.at(-1);
                  return (
                    <Table.Tr key={delivery.id}>
                      <Table.Td>
                        <StatusMark tone={TONES[delivery.state]}>{delivery.state}</StatusMark>
                      </Table.Td>
                      <Table.Td>{delivery.event}</Table.Td>
                      <Table.Td>{time(delivery.created_at)}</Table.Td>
                      <Table.Td>{delivery.attempts.length}</Table.Td>
                      <Table.Td>{last ? attemptText(last) : "–"}</Table.Td>
                      <Table.Td>
                        <Text span size="sm" c="dimmed">
                          {delivery.next_attempt_at ? clock(delivery.next_attempt_at) : "–"}
                        </Text>
                      </Table.Td>
                      <Table.Td>
                        <Button size="compact-xs" variant="default" disabled={delivery.state === "pending"} onClick={() => retry.mutate(delivery.id)}>
                          Send again
                        </Button>
                      </Table.Td>
                    </Table.Tr>
                  );
                })}
              </Table.Tbody>
            </Table>
          )}
        </QueryState>
      </div>
    </Panel>
  );
}
