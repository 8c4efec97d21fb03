import { Button, CopyButton, Stack, Table, Text } from "@mantine/core";
import type { Behaviour } from "@/lib/api/types";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";

/** Models on which a behaviour was published, with the figures to compare with. */
export function KnownOn({ behaviour }: { behaviour: Behaviour }) {
  return (
    <Panel title="Known on" flush>
      <HeadedTable label="Known on" titles={["Model", "Firmware", "Figures", "Source"]}>
        {behaviour.known_on.map((each) => (
          <Table.Tr key={each.model}>
            <Table.Td style={{ whiteSpace: "nowrap" }}>
              <b>{each.model}</b>
            </Table.Td>
            <Table.Td>{each.firmware}</Table.Td>
            <Table.Td>{each.figures}</Table.Td>
            <Table.Td>{each.source}</Table.Td>
          </Table.Tr>
        ))}
      </HeadedTable>
      <Text size="sm" c="dimmed" m="10px 12px">
        {behaviour.applies_to.length > 0
          ? `Judged on ${behaviour.applies_to.join(", ")} only.`
          : behaviour.seen_in === "telemetry"
            ? "Judged on every model; a finding says whether its model is known for it."
            : "Visible in packet captures only: no counter has the times of single packets."}
      </Text>
    </Panel>
  );
}

/** What to do about a behaviour, and what to write to the vendor: no remedy of ours changes firmware. */
export function Advice({ behaviour }: { behaviour: Behaviour }) {
  return (
    <Panel
      title="What to do"
      actions={
        <CopyButton value={behaviour.ticket}>
          {({ copied, copy }) => (
            <Button size="compact-xs" variant="default" onClick={copy}>
              {copied ? "Copied" : "Copy ticket text"}
            </Button>
          )}
        </CopyButton>
      }
    >
      <Stack gap={8}>
        <Text size="sm">{behaviour.advice}</Text>
        <Text size="sm" fw={600}>
          Text for a ticket at the vendor
        </Text>
        <Text size="sm" c="dimmed">
          {behaviour.ticket}
        </Text>
      </Stack>
    </Panel>
  );
}
