import { Button, Checkbox, Group, ScrollArea, Stack, Table, Text } from "@mantine/core";
import { plural } from "@/lib/format";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { StatusMark } from "@/lib/ui/StatusMark";
import { MOST_TARGETS, placeOf, type Target } from "./targets";

/** More would only be scrolled past; a filter says better what is meant. */
const SHOWN = 200;

interface Props {
  all: readonly Target[];
  kept: readonly Target[];
  left: ReadonlySet<string>;
  /** Hosts with an agent, and whether it is connected; undefined until that is known. */
  agents: ReadonlyMap<string, boolean> | undefined;
  filtered: boolean;
  onLeave: (place: string, leave: boolean) => void;
  onFirst: (place: string) => void;
}

function AgentMark({ connected }: { connected: boolean | undefined }) {
  if (connected === undefined) return <StatusMark tone="bad">skipped: no agent</StatusMark>;
  return connected ? (
    <StatusMark tone="good">connected</StatusMark>
  ) : (
    <StatusMark tone="warn">not connected: waits for it</StatusMark>
  );
}

/** What the filters select, each to be left out or to be put first; hosts without an agent can't be reached. */
export function TargetPicker({ all, kept, left, agents, filtered, onLeave, onFirst }: Props) {
  if (!filtered)
    return (
      <EmptyState title="Select targets">
        Filter by rack, host, model or symptom. To target the whole fleet, name it in a filter.
      </EmptyState>
    );
  if (all.length === 0)
    return (
      <EmptyState title="No RNIC matches these filters">
        Clear a filter. The same filters select the same RNICs on the fleet page.
      </EmptyState>
    );
  const first = kept[0] && placeOf(kept[0]);
  const missing = agents ? all.filter((target) => !agents.has(target.host)).length : 0;
  return (
    <Stack gap={6}>
      <Text size="sm" role="status">
        <b>{kept.length.toLocaleString("en")}</b> of {plural(all.length, "target")} selected
        {missing > 0 ? `; ${missing.toLocaleString("en")} skipped without an agent` : ""}.
      </Text>
      {kept.length > MOST_TARGETS && (
        <Text size="sm" role="alert" style={{ color: "var(--ww-bad)" }}>
          At most {MOST_TARGETS.toLocaleString("en")} at a time: filter further.
        </Text>
      )}
      <ScrollArea.Autosize
        mah={430}
        type="auto"
        viewportProps={{ tabIndex: 0, role: "group", "aria-label": "Targets" }}
      >
        <HeadedTable label="Targets" titles={["Selected", "Target", "Rack", "Agent", "Canary"]}>
          {all.slice(0, SHOWN).map((target) => {
            const place = placeOf(target);
            const reachable = !agents || agents.has(target.host);
            return (
              <Table.Tr key={place} data-target={place}>
                <Table.Td w={70}>
                  <Checkbox
                    size="xs"
                    aria-label={`Select ${place}`}
                    checked={reachable && !left.has(place)}
                    disabled={!reachable}
                    onChange={(event) => onLeave(place, !event.currentTarget.checked)}
                  />
                </Table.Td>
                <Table.Td>{place}</Table.Td>
                <Table.Td>{target.rack ?? "–"}</Table.Td>
                <Table.Td>{agents ? <AgentMark connected={agents.get(target.host)} /> : "…"}</Table.Td>
                <Table.Td w={90}>
                  {place === first ? (
                    <Text size="sm" fw={600}>
                      ◉ first
                    </Text>
                  ) : (
                    reachable &&
                    !left.has(place) && (
                      <Button
                        size="compact-xs"
                        variant="subtle"
                        aria-label={`Start with ${place}`}
                        onClick={() => onFirst(place)}
                      >
                        first
                      </Button>
                    )
                  )}
                </Table.Td>
              </Table.Tr>
            );
          })}
        </HeadedTable>
      </ScrollArea.Autosize>
      {all.length > SHOWN && (
        <Group gap={6}>
          <Text size="sm" c="dimmed">
            and {(all.length - SHOWN).toLocaleString("en")} more, selected if they have an agent.
          </Text>
        </Group>
      )}
    </Stack>
  );
}
