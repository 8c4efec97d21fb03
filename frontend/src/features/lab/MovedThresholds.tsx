import { Table, Text } from "@mantine/core";
import type { FoundCause } from "@/lib/api/types";
import { formatNumber } from "@/lib/format";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { valueText } from "./labText";

/** Where thresholds were measured that other parameters move. Nothing for a cause without such a threshold. */
export function MovedThresholds({ cause }: { cause: FoundCause }) {
  return cause.conditions
    .filter(({ moved_by }) => moved_by.length > 0)
    .map(({ parameter, moved_by, thresholds }) => (
      <div key={parameter}>
        <HeadedTable
          label={`How other parameters move the threshold of ${parameter ?? ""}`}
          titles={[...moved_by, `First bad ${parameter ?? ""}`]}
        >
          {thresholds.map(({ at, value }) => (
            <Table.Tr key={JSON.stringify(at)}>
              {moved_by.map((name) => (
                <Table.Td key={name}>{valueText(at[name])}</Table.Td>
              ))}
              <Table.Td>{value === null ? "never" : formatNumber(value)}</Table.Td>
            </Table.Tr>
          ))}
        </HeadedTable>
        <Text size="xs" c="dimmed" mt={4}>
          Measured at these values. Between them the threshold is interpolated, and new configurations show whether that
          is right within 2%.
        </Text>
      </div>
    ));
}
