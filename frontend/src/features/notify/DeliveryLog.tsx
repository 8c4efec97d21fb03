import { Button, Group, SegmentedControl, Select, Table } from "@mantine/core";
import { useState } from "react";
import type { Webhook } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { ListPanel } from "@/lib/ui/ListPanel";
import { SearchField } from "@/lib/ui/SearchField";
import { StatusMark } from "@/lib/ui/StatusMark";
import { useMayChange } from "@/shared/session";
import { AttemptOutcome } from "./AttemptOutcome";
import { TONES } from "./attempts";
import { DeliveryDialog } from "./DeliveryDialog";
import { logEvents } from "./events";
import { DELIVERY_STATES, type DeliveryState, type LogFilters } from "./filters";
import { useDeliveries, useReplayDelivery } from "./queries";
import { useEventTables } from "./useEventTables";

function LogFilterBar({ filters, onFilters }: { filters: LogFilters; onFilters: (filters: LogFilters) => void }) {
  const tables = useEventTables();
  const filtered = Boolean(filters.state ?? filters.event ?? filters.q);
  return (
    <Group gap={8} role="search" aria-label="Filter deliveries">
      <SegmentedControl
        aria-label="Delivery state"
        value={filters.state ?? "all"}
        onChange={(value) => onFilters({ ...filters, state: value === "all" ? undefined : (value as DeliveryState) })}
        data={[
          { value: "all", label: "All" },
          ...DELIVERY_STATES.map((state) => ({ value: state, label: state.charAt(0).toUpperCase() + state.slice(1) })),
        ]}
      />
      <Select
        aria-label="Event"
        placeholder="event"
        clearable
        w={170}
        data={logEvents(tables)}
        value={filters.event ?? null}
        onChange={(event) => onFilters({ ...filters, event: event ?? undefined })}
        clearButtonProps={{ "aria-label": "Clear event" }}
      />
      <SearchField
        label="Subject"
        placeholder="host, symptom, rack"
        width={180}
        value={filters.q}
        onValue={(q) => onFilters({ ...filters, q })}
      />
      {filtered && (
        <Button variant="subtle" onClick={() => onFilters({ webhook: filters.webhook })}>
          Clear filters
        </Button>
      )}
    </Group>
  );
}

interface Props {
  webhook: Webhook;
  filters: LogFilters;
  onFilters: (filters: LogFilters) => void;
}

/** Everything that was sent to one webhook, newest first; a body opens, and a finished delivery can be sent again. */
export function DeliveryLog({ webhook, filters, onFilters }: Props) {
  const deliveries = useDeliveries(webhook.id, filters);
  const replay = useReplayDelivery(webhook.id);
  const maySend = useMayChange();
  const [opened, setOpened] = useState<string | null>(null);
  const { time, clock } = useTimeFormat();
  const filtered = Boolean(filters.state ?? filters.event ?? filters.q);
  return (
    <>
      <ListPanel
        title={`Deliveries of ${webhook.name}`}
        actions={<LogFilterBar filters={filters} onFilters={onFilters} />}
        pages={deliveries}
        problem={replay.error}
        empty={
          filtered ? (
            <EmptyState title="No delivery matches these filters">
              Clear the filters to see all. Deliveries are kept for 30 days.
            </EmptyState>
          ) : (
            <EmptyState title="No deliveries yet">
              Send a test, or wait for the next incident that it matches.
            </EmptyState>
          )
        }
        moreLabel="Show older deliveries"
      >
        {(items) => (
          <HeadedTable
            label="Deliveries"
            titles={["State", "Event", "Subject", "Created", "Attempts", "Last attempt", "Next", "Actions"]}
          >
            {items.map((delivery) => {
              const last = delivery.attempts.at(-1);
              return (
                <Table.Tr key={delivery.id}>
                  <Table.Td>
                    <StatusMark tone={TONES[delivery.state]}>{delivery.state}</StatusMark>
                  </Table.Td>
                  <Table.Td>{delivery.event}</Table.Td>
                  <Table.Td>{delivery.about || "–"}</Table.Td>
                  <Table.Td style={{ whiteSpace: "nowrap" }}>{time(delivery.created_at)}</Table.Td>
                  <Table.Td>{delivery.attempts.length}</Table.Td>
                  <Table.Td>{last ? <AttemptOutcome attempt={last} /> : "–"}</Table.Td>
                  <Table.Td c="dimmed">{delivery.next_attempt_at ? clock(delivery.next_attempt_at) : "–"}</Table.Td>
                  <Table.Td>
                    <Group gap={6} wrap="nowrap">
                      <Button
                        size="compact-xs"
                        variant="default"
                        aria-haspopup="dialog"
                        onClick={() => setOpened(delivery.id)}
                      >
                        Body
                      </Button>
                      {maySend && (
                        <Button
                          size="compact-xs"
                          variant="default"
                          title={
                            delivery.state === "pending"
                              ? "Still being delivered"
                              : "The same body under the same webhook-id"
                          }
                          disabled={delivery.state === "pending"}
                          loading={replay.isPending && replay.variables === delivery.id}
                          onClick={() => replay.mutate(delivery.id)}
                        >
                          Send again
                        </Button>
                      )}
                    </Group>
                  </Table.Td>
                </Table.Tr>
              );
            })}
          </HeadedTable>
        )}
      </ListPanel>
      {opened !== null && <DeliveryDialog webhookId={webhook.id} deliveryId={opened} onClose={() => setOpened(null)} />}
    </>
  );
}
