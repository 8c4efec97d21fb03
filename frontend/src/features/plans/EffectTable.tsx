import { Table, Text } from "@mantine/core";
import type { Plan, PlanReport } from "@/lib/api/types";
import { formatNumber, formatValue } from "@/lib/format";
import { HeadedTable } from "@/lib/ui/HeadedTable";

const QUANTITIES = [
  { key: "q_l", label: "Lookups at the sender, Q_l", unit: "none" },
  { key: "q_r", label: "Lookups at the receiver, Q_r", unit: "none" },
  { key: "bandwidth_gbps", label: "Bandwidth", unit: "Gbit/s" },
  { key: "latency_us", label: "Latency", unit: "µs" },
] as const;

function change(before: number | null, after: number | null): string {
  if (before === null || after === null || before === 0) return "–";
  const share = (after - before) / before;
  return `${share < 0 ? "−" : "+"}${Math.abs(share * 100).toFixed(Math.abs(share) < 0.1 ? 1 : 0)}%`;
}

/** Between what is left of it after some minutes, as flows come and go, and the best; empty in plans of before there was such a range. */
export function rangeText({ low, high }: PlanReport["expected"], key: (typeof QUANTITIES)[number]["key"]): string {
  const ends = [low?.[key], high?.[key]];
  if (!ends.every((end) => typeof end === "number")) return "";
  const [from, to] = ends.sort((a, b) => a - b).map(formatNumber);
  return from === to ? "" : `${from} to ${to}`;
}

/** What is expected of the plan, and once it was applied what telemetry shows. */
export function EffectTable({ expected, outcome }: { expected: PlanReport["expected"]; outcome: Plan["outcome"] }) {
  return (
    <>
      <HeadedTable
        label="Effect"
        titles={["Quantity", "Before", "Expected", "Change", ...(outcome ? ["Measured before", "Measured since"] : [])]}
      >
        {QUANTITIES.map(({ key, label, unit }) => {
          const measured = outcome && key !== "latency_us" ? outcome[key] : null;
          return (
            <Table.Tr key={key}>
              <Table.Td>{label}</Table.Td>
              <Table.Td>{formatValue(expected.before[key], unit)}</Table.Td>
              <Table.Td>
                <b style={{ whiteSpace: "nowrap" }}>{formatValue(expected.after[key], unit)}</b>
                {rangeText(expected, key) && (
                  <Text size="xs" c="dimmed">
                    {rangeText(expected, key)}
                  </Text>
                )}
              </Table.Td>
              <Table.Td>
                <Text span size="sm">
                  {change(expected.before[key], expected.after[key])}
                </Text>
              </Table.Td>
              {outcome && (
                <>
                  <Table.Td>{key === "latency_us" ? "not measured" : formatValue(measured?.before, unit)}</Table.Td>
                  <Table.Td fw={700}>{key === "latency_us" ? "" : formatValue(measured?.measured, unit)}</Table.Td>
                </>
              )}
            </Table.Tr>
          );
        })}
      </HeadedTable>
      {expected.low && (
        <Text size="xs" c="dimmed" mt={6}>
          Expected one minute after the change; below it, the range from three minutes after (when flows have changed)
          to the best case.
        </Text>
      )}
    </>
  );
}
