import { Button, Table } from "@mantine/core";
import type { Delivery, Webhook } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { ListPanel } from "@/lib/ui/ListPanel";
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
    <ListPanel
      title={`Deliveries of ${webhook.name}`}
      pages={deliveries}
      problem={retry.error}
      empty={<EmptyState title="Nothing was sent yet">Send a test, or wait for the next incident.</EmptyState>}
      moreLabel="Show older deliveries"
    >
      {(items) => (
        <HeadedTable label="Deliveries" titles={["State", "Event", "Created", "Attempts", "Last attempt", "Next", "Retry"]}>
          {items.map((delivery) => {
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
                <Table.Td c="dimmed">{delivery.next_attempt_at ? clock(delivery.next_attempt_at) : "–"}</Table.Td>
                <Table.Td>
                  <Button size="compact-xs" variant="default" disabled={delivery.state === "pending"} onClick={() => retry.mutate(delivery.id)}>
                    Send again
                  </Button>
                </Table.Td>
              </Table.Tr>
            );
          })}
        </HeadedTable>
      )}
    </ListPanel>
  );
}
