import { Button, Group, Table, Text, UnstyledButton } from "@mantine/core";
import type { PredictedFunction } from "@/lib/api/types";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { StatusMark } from "@/lib/ui/StatusMark";
import { DEVIATES, deviationText, doubt, kpps, lostText, slaState } from "../text";
import { ThroughputBar } from "./ThroughputBar";

interface Props {
  label: string;
  functions: readonly PredictedFunction[];
  shown?: string;
  onShow?: (name: string) => void;
  onRemove?: (name: string) => void;
}

/** Each function with what it gets, what it loses to which resource, and what is left of its SLA. */
export function ResidentsTable({ label, functions, shown, onShow, onRemove }: Props) {
  const titles = ["Function", "Cores", "Throughput", "Of its solo throughput", "Lost", "SLA"];
  return (
    <HeadedTable label={label} titles={onRemove ? [...titles, "Actions"] : titles}>
      {functions.map((found) => (
        <Table.Tr key={found.name} data-function={found.name} aria-selected={onShow && found.name === shown}>
          <Table.Td>
            {onShow ? (
              <UnstyledButton
                fz="sm"
                c="var(--ww-accent)"
                fw={found.name === shown ? 700 : 400}
                aria-pressed={found.name === shown}
                onClick={() => onShow(found.name)}
              >
                {found.name}
              </UnstyledButton>
            ) : (
              found.name
            )}
            <Text size="xs" c="dimmed">
              {found.function}, model version {found.version}
            </Text>
          </Table.Td>
          <Table.Td>{found.cores}</Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>
            <b>{kpps(found.throughput_kpps)}</b>
            <Text size="xs" c="dimmed">
              {kpps(found.low_kpps)} to {kpps(found.high_kpps)}
            </Text>
            <Measured found={found} />
          </Table.Td>
          <Table.Td w="30%">
            <ThroughputBar found={found} />
            <Text size="xs" c="dimmed" mt={2}>
              solo {kpps(found.solo_kpps)}
            </Text>
          </Table.Td>
          <Table.Td>
            <Text size="sm">{lostText(found)}</Text>
            {doubt(found) && (
              <Text size="xs" c="var(--ww-warn)" maw={260}>
                ▲ {doubt(found)}
              </Text>
            )}
          </Table.Td>
          <Table.Td>
            <StatusMark tone={slaState(found).tone}>{slaState(found).text}</StatusMark>
          </Table.Td>
          {onRemove && (
            <Table.Td>
              <Group gap={4} wrap="nowrap">
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={`Remove ${found.name}`}
                  onClick={() => onRemove(found.name)}
                >
                  Remove
                </Button>
              </Group>
            </Table.Td>
          )}
        </Table.Tr>
      ))}
    </HeadedTable>
  );
}

function Measured({ found }: { found: PredictedFunction }) {
  const deviation = deviationText(found);
  if (deviation === undefined || found.deviation === null) return null;
  const off = Math.abs(found.deviation) > DEVIATES;
  return (
    <Text size="xs" c={off ? "var(--ww-warn)" : "dimmed"}>
      {off && "▲ "}measured {kpps(found.measured_kpps)}, {deviation}
    </Text>
  );
}
