import { Stack, Table, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { formatNumber } from "@/lib/format";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { StatusMark } from "@/lib/ui/StatusMark";
import { useProfiles } from "./queries";

/** Every model of RNIC that is known, with what it gives at the head of its mask chains. */
export function ProfilesPage() {
  const profiles = useProfiles();
  return (
    <Stack gap={12}>
      <Title order={1}>Profiles</Title>
      <Text size="sm" c="dimmed" maw={900}>
        Performance of each RNIC model as a function of mask lookups per packet. Limits, symptoms and forecasts use the
        active profile.
      </Text>
      <Panel title="Models" flush>
        <QueryState
          query={profiles}
          lines={6}
          isEmpty={(items) => items.length === 0}
          empty={<EmptyState title="No models">The catalogue has no profiles.</EmptyState>}
        >
          {(items) => (
            <HeadedTable
              label="Models"
              titles={["Model", "RNICs", "At the head of both chains", "R²", "Active", "Candidates"]}
            >
              {items.map((item) => (
                <Table.Tr key={item.model} data-model={item.model}>
                  <Table.Td>
                    <Link to="/profiles/$model" params={{ model: item.model }}>
                      {item.model}
                    </Link>
                    <Text size="xs" c="dimmed">
                      {item.title}
                    </Text>
                  </Table.Td>
                  <Table.Td>{formatNumber(item.rnics)}</Table.Td>
                  <Table.Td>
                    {formatNumber(item.head_gbps)} Gbit/s, {formatNumber(item.head_us)} µs
                    {item.parameters_basis === "assumed" && (
                      <Text size="xs" c="dimmed">
                        assumed
                      </Text>
                    )}
                  </Table.Td>
                  <Table.Td>{item.parameters.goodness.toFixed(2)}</Table.Td>
                  <Table.Td>
                    {item.active === 0 ? "built-in" : `version ${item.active}`}
                    {item.scoped > 0 && ` and ${item.scoped} for one driver or firmware`}
                  </Table.Td>
                  <Table.Td>
                    {item.candidates > 0 ? (
                      <StatusMark tone="warn">{`${item.candidates} to promote`}</StatusMark>
                    ) : (
                      "none"
                    )}
                  </Table.Td>
                </Table.Tr>
              ))}
            </HeadedTable>
          )}
        </QueryState>
      </Panel>
    </Stack>
  );
}
