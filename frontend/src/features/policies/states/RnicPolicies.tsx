import "@/lib/ui/mantineMore.css";
import { Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { RangeSearch } from "@/lib/time/range";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { SUBJECT_LABELS } from "../PolicyMarks";
import { useRnicPolicies } from "../queries";
import { StateStrip, StripLegend } from "./StateStrip";

/** The verdicts of each policy on one RNIC and its host, over the page's time range. */
export function RnicPolicies({ host, pci, range }: { host: string; pci: string; range: RangeSearch }) {
  const policies = useRnicPolicies(host, pci, range);
  return (
    <Panel title="Policies" aside={<StripLegend />} flush={Boolean(policies.data?.items.length)}>
      <QueryState
        query={policies}
        lines={5}
        isEmpty={(data) => data.items.length === 0}
        empty={
          <EmptyState title="No policies report on this RNIC">
            The collector of a host runs policies once its agent has received them and the processor ltl is enabled.
            Policies shows how many agents have them.
          </EmptyState>
        }
      >
        {(data) => (
          <HeadedTable label="Verdicts of policies" titles={["Policy", "Scope", "Violations", "Verdicts over time"]}>
            {data.items.map((item) => {
              const total = item.violations.reduce((sum, each) => sum + each, 0);
              return (
                <Table.Tr key={`${item.policy} ${String(item.of_host)}`} data-policy={item.policy}>
                  <Table.Td>
                    <Link to="/policies/$id" params={{ id: item.policy }}>
                      {item.title}
                    </Link>
                    {item.lifecycle !== "enabled" && (
                      <Text size="xs" c="dimmed">
                        {item.lifecycle}
                      </Text>
                    )}
                  </Table.Td>
                  <Table.Td style={{ whiteSpace: "nowrap" }}>
                    {SUBJECT_LABELS[item.subject]}
                    {item.of_host && item.subject !== "host" ? " on the host" : ""}
                  </Table.Td>
                  <Table.Td>{total > 0 ? total.toLocaleString("en") : "none"}</Table.Td>
                  <Table.Td w="55%" miw={220}>
                    <StateStrip
                      label={`Verdicts of ${item.policy}`}
                      times={data.times}
                      states={item.states}
                      violations={item.violations}
                      stepS={data.step_s}
                    />
                  </Table.Td>
                </Table.Tr>
              );
            })}
          </HeadedTable>
        )}
      </QueryState>
    </Panel>
  );
}
