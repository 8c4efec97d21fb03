import { ScrollArea, Table, Text } from "@mantine/core";
import { useMemo } from "react";
import type { PlannedChain } from "@/lib/api/types";
import { formatNumber } from "@/lib/format";
import { EmptyState } from "@/lib/ui/EmptyState";
import { chainDiff, diffText, KINDS } from "./chainDiff";
import classes from "./ChainDiffTable.module.css";

const TITLES = ["Change", "Current", "Planned", "Mask", "LS", "Packets/min", "Flows"];

/** One direction's masks in the order that comes, each with where it stands now. */
export function ChainDiffTable({ title, chain }: { title: string; chain: PlannedChain }) {
  const changes = useMemo(() => chainDiff(chain), [chain]);
  if (changes.length === 0)
    return (
      <EmptyState title={`No ${title.toLowerCase()} masks`}>
        Open vSwitch has not offloaded any flow in this direction.
      </EmptyState>
    );
  return (
    <div>
      <Text size="sm" mb={4}>
        <b>{title}</b> · {diffText(changes)} · {formatNumber(chain.queries_before)} lookups per packet now,{" "}
        {formatNumber(chain.queries_after)} planned
      </Text>
      <ScrollArea.Autosize
        mah={420}
        type="auto"
        viewportProps={{ tabIndex: 0, role: "group", "aria-label": `${title} masks` }}
      >
        <Table aria-label={`${title} masks before and after`} stickyHeader withTableBorder>
          <Table.Thead>
            <Table.Tr>
              {TITLES.map((each, i) => (
                <Table.Th key={each} className={i === 0 || i === 3 ? undefined : classes["number"]}>
                  {each}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {changes.map(({ kind, mask, before, after }, i) => (
              <Table.Tr key={i} className={classes["row"]} data-kind={kind}>
                <Table.Td className={classes["sign"]} data-kind={kind}>
                  {KINDS[kind].sign}{" "}
                  {mask.hyper && kind === "hyper" ? "exact-match mask (hyper mask)" : KINDS[kind].label}
                </Table.Td>
                <Table.Td className={classes["number"]}>{before ?? "–"}</Table.Td>
                <Table.Td className={classes["number"]} fw={600}>
                  {after ?? "–"}
                </Table.Td>
                <Table.Td className={classes["mask"]} title={`${mask.mask} (${mask.length_bits} bits)`}>
                  {mask.mask}
                </Table.Td>
                <Table.Td className={classes["number"]}>{formatNumber(mask.score)}</Table.Td>
                <Table.Td className={classes["number"]}>{formatNumber(mask.packets_60s)}</Table.Td>
                <Table.Td className={classes["number"]}>{formatNumber(mask.flows)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea.Autosize>
    </div>
  );
}
