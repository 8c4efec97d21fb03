import { Button, Group, List, Table, Text } from "@mantine/core";
import type { NfModel, NfVersionSummary } from "@/lib/api/types";
import { formatNumber } from "@/lib/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { StatusMark, type Tone } from "@/lib/ui/StatusMark";
import { COLUMNS } from "../text";

const STATES: Readonly<Record<NfVersionSummary["state"], { word: string; tone: Tone }>> = {
  candidate: { word: "candidate", tone: "waiting" },
  refused: { word: "refused", tone: "bad" },
  active: { word: "active", tone: "good" },
  retired: { word: "retired", tone: "quiet" },
};
const SHOWN_RANGES = ["flows", "packet_bytes", "working_set_mb"];

interface Props {
  model: NfModel;
  mayChange: boolean;
  onPromote: (version: NfVersionSummary) => void;
  onRollBack: (version: NfVersionSummary) => void;
}

function rangeText({ ranges }: NfVersionSummary): string {
  return ranges
    .filter(({ name }) => SHOWN_RANGES.includes(name))
    .map(({ name, low, high, unit }) => {
      const span = low === high ? formatNumber(low) : `${formatNumber(low)} to ${formatNumber(high)}`;
      return `${COLUMNS[name]} ${span}${unit ? ` ${unit}` : ""}`;
    })
    .join(", ");
}

/** The versions of one model with their model cards in short. */
export function VersionTable({ model, mayChange, onPromote, onRollBack }: Props) {
  const { time } = useTimeFormat();
  return (
    <HeadedTable
      label={`Versions of ${model.function}`}
      titles={["Version", "State", "Error of rows left out", "Measured", "Created", "Promoted", "Actions"]}
    >
      {model.versions.map((version) => (
        <Table.Tr key={version.id} data-version={version.number}>
          <Table.Td>{version.number}</Table.Td>
          <Table.Td>
            <StatusMark tone={STATES[version.state].tone}>{STATES[version.state].word}</StatusMark>
            {version.state === "refused" && (
              <List size="xs" maw={280}>
                {version.reasons.map((reason) => (
                  <List.Item key={reason}>{reason}</List.Item>
                ))}
              </List>
            )}
          </Table.Td>
          <Table.Td>
            {version.mape.toFixed(1)}%
            <Text size="xs" c="dimmed">
              {version.within_5.toFixed(0)}% within 5%, {version.within_10.toFixed(0)}% within 10%
            </Text>
          </Table.Td>
          <Table.Td>
            {version.rows} rows; {version.accelerator ? "memory and accelerator" : "memory only"}
            <Text size="xs" c="dimmed">
              {rangeText(version)}
            </Text>
            {!version.own_load_known && (
              <Text size="xs" c="var(--ww-warn)">
                ▲ own load unknown: its neighbours are not predicted
              </Text>
            )}
          </Table.Td>
          <Table.Td>
            {time(version.created_at)}
            <Text size="xs" c="dimmed">
              {version.created_by}
              {version.note && `: ${version.note}`}
            </Text>
          </Table.Td>
          <Table.Td>
            {version.promoted_at ? time(version.promoted_at) : "–"}
            <Text size="xs" c="dimmed">
              {version.promoted_by}
            </Text>
          </Table.Td>
          <Table.Td>
            <Group gap={4} wrap="nowrap">
              {mayChange && (version.state === "candidate" || version.state === "retired") && (
                <Button
                  size="compact-xs"
                  aria-label={`Promote version ${version.number} of ${model.function}`}
                  onClick={() => onPromote(version)}
                >
                  Promote…
                </Button>
              )}
              {mayChange && version.state === "active" && (
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={`Roll back ${model.function} from version ${version.number}`}
                  onClick={() => onRollBack(version)}
                >
                  Roll back…
                </Button>
              )}
            </Group>
          </Table.Td>
        </Table.Tr>
      ))}
    </HeadedTable>
  );
}
