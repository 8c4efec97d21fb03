import { Button, ScrollArea, Stack, Table, Text } from "@mantine/core";
import { UNIT } from "@/charts/surface/model";
import type { ProfileComparison, ProfileVersionSummary } from "@/lib/api/types";
import { formatNumber, formatShare, formatValue, MISSING } from "@/lib/format";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { useComparison } from "./queries";

const NAMES = ["u", "v", "m", "n", "w", "a", "b", "c", "goodness"] as const;

function nameOf({ number }: ProfileVersionSummary): string {
  return number === 0 ? "Built-in" : `Version ${number}`;
}

function Compared({ found }: { found: ProfileComparison }) {
  const { left, right, points } = found;
  const titles = [nameOf(left), nameOf(right)];
  return (
    <Stack gap={12}>
      <HeadedTable label="Parameters side by side" titles={["Parameter", ...titles]}>
        {NAMES.map((name) => (
          <Table.Tr key={name}>
            <Table.Td>{name}</Table.Td>
            <Table.Td>{formatNumber(left.parameters?.[name])}</Table.Td>
            <Table.Td>{formatNumber(right.parameters?.[name])}</Table.Td>
          </Table.Tr>
        ))}
        {["bandwidth", "latency"].map((quantity) => (
          <Table.Tr key={quantity}>
            <Table.Td>error, {quantity}</Table.Td>
            <Table.Td>{quantity in found.left_error ? formatShare(found.left_error[quantity]) : MISSING}</Table.Td>
            <Table.Td>{quantity in found.right_error ? formatShare(found.right_error[quantity]) : MISSING}</Table.Td>
          </Table.Tr>
        ))}
      </HeadedTable>
      {points.length === 0 ? (
        <EmptyState title="Neither version has measured points">There is no data to check them against.</EmptyState>
      ) : (
        <ScrollArea.Autosize
          mah={420}
          type="auto"
          viewportProps={{ tabIndex: 0, role: "group", "aria-label": "Measured points" }}
        >
          <HeadedTable label="At every measured point" titles={["Point", "Q local", "Q remote", "Measured", ...titles]}>
            {points.map((point, i) => (
              <Table.Tr key={`${point.source} ${i}`}>
                <Table.Td style={{ overflowWrap: "anywhere" }}>
                  {point.source}
                  <Text size="xs" c="dimmed">
                    {point.quantity}
                  </Text>
                </Table.Td>
                <Table.Td>{formatNumber(point.q_l)}</Table.Td>
                <Table.Td>{formatNumber(point.q_r)}</Table.Td>
                <Table.Td>{formatValue(point.measured, UNIT[point.quantity])}</Table.Td>
                <Table.Td>
                  {formatNumber(point.left)} ({formatShare(point.left / point.measured - 1)})
                </Table.Td>
                <Table.Td>
                  {formatNumber(point.right)} ({formatShare(point.right / point.measured - 1)})
                </Table.Td>
              </Table.Tr>
            ))}
          </HeadedTable>
        </ScrollArea.Autosize>
      )}
    </Stack>
  );
}

/** Two versions side by side: their parameters and predictions at every point that either was fitted to. */
export function ComparePanel({
  model,
  left,
  right,
  onClose,
}: {
  model: string;
  left: number;
  right: number;
  onClose: () => void;
}) {
  const comparison = useComparison(model, left, right);
  return (
    <Panel
      title={`Version ${right} against the active version`}
      actions={
        <Button size="compact-xs" variant="default" onClick={onClose}>
          Close
        </Button>
      }
    >
      <QueryState query={comparison} lines={8}>
        {(found) => <Compared found={found} />}
      </QueryState>
    </Panel>
  );
}
