import { Button, Group, Stack, Table, Text } from "@mantine/core";
import type { PlacementPlan } from "@/lib/api/types";
import { formatNumber, formatShare, plural } from "@/lib/format";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { StatusMark } from "@/lib/ui/StatusMark";
import { Note } from "../Note";
import { kpps, RESOURCES } from "../text";
import { downloadJson } from "./download";

/** The assignment next to where the functions run now, and the ways to take it along. */
export function PlanPanel({ plan }: { plan: PlacementPlan }) {
  return (
    <Stack gap={12}>
      <Panel
        title="Comparison"
        flush
        actions={
          <Group gap={6}>
            <Button size="compact-sm" variant="default" onClick={() => downloadJson("placement.json", plan)}>
              Download JSON
            </Button>
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => downloadJson("node-affinity.json", plan.affinities)}
            >
              Download Kubernetes node affinity
            </Button>
          </Group>
        }
      >
        <HeadedTable label="Comparison" titles={["Assignment", "Cards used", "Broken SLAs expected", "Without a card"]}>
          <Row label="Proposed" plan={plan} note={bound(plan)} />
          {plan.present && (
            <Row label="Present" plan={plan.present} note={`${plural(plan.moves, "function")} would move`} />
          )}
        </HeadedTable>
      </Panel>
      {plan.unplaced.length > 0 && (
        <Note title={`No card is left for ${plural(plan.unplaced.length, "function")}`}>
          {plan.unplaced.join(", ")}. Add cards, or allow these functions to lose more.
        </Note>
      )}
      <Panel title="Proposed assignment" flush>
        <HeadedTable
          label="Proposed assignment"
          titles={["Card", "Function", "Throughput", "Loses", "May lose", "Now on"]}
        >
          {plan.cards.flatMap((card) =>
            card.functions.map((each, at) => (
              <Table.Tr key={`${card.name} ${each.name}`} data-card={card.name}>
                {at === 0 && (
                  <Table.Th scope="rowgroup" rowSpan={card.functions.length} fw={600} style={{ verticalAlign: "top" }}>
                    {card.name}
                  </Table.Th>
                )}
                <Table.Td>
                  {each.name}
                  {each.name !== each.function && (
                    <Text size="xs" c="dimmed">
                      {each.function}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td>
                  {kpps(each.throughput_kpps)} of {kpps(each.solo_kpps)}
                </Table.Td>
                <Table.Td>
                  {each.violates ? (
                    <StatusMark tone="bad">{`${formatShare(each.drop)}, breaks its SLA`}</StatusMark>
                  ) : (
                    <>
                      {formatShare(each.drop)}
                      {each.bottleneck && ` to ${RESOURCES[each.bottleneck]}`}
                    </>
                  )}
                </Table.Td>
                <Table.Td>
                  {formatShare(each.sla_drop)}
                  <Text size="xs" c={each.chance >= LIKELY ? "var(--ww-warn)" : "dimmed"}>
                    {each.chance >= LIKELY && "▲ "}
                    {chanceText(each.chance)} chance to break it
                  </Text>
                </Table.Td>
                <Table.Td>{each.moved_from ? <MovedFrom card={each.moved_from} /> : "–"}</Table.Td>
              </Table.Tr>
            )),
          )}
        </HeadedTable>
      </Panel>
    </Stack>
  );
}

/** Host and address below each other: next to each other they would push the table out of a narrow window. */
function MovedFrom({ card }: { card: string }) {
  const [host = card, ...address] = card.split(" ");
  return (
    <>
      <StatusMark tone="warn">{host}</StatusMark>
      {address.length > 0 && (
        <Text size="xs" c="dimmed">
          {address.join(" ")}
        </Text>
      )}
    </>
  );
}

function bound({ lower_bound }: PlacementPlan): string {
  return lower_bound === null ? "placed one after the other" : `no assignment needs fewer than ${lower_bound}`;
}

type Totals = Pick<PlacementPlan, "cards_used" | "violations" | "expected_violations" | "unplaced">;

/** From this chance on, a function is as likely to break its SLA as one of ten. */
const LIKELY = 0.1;

function chanceText(chance: number): string {
  if (chance < 0.001) return "< 0.1%";
  return chance > 0.999 ? "> 99.9%" : formatShare(chance);
}

function Row({ label, plan, note }: { label: string; plan: Totals; note: string }) {
  return (
    <Table.Tr data-plan={label}>
      <Table.Th scope="row" fw={600}>
        {label}
      </Table.Th>
      <Table.Td>
        {plan.cards_used}
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      </Table.Td>
      <Table.Td>
        <StatusMark tone={plan.violations > 0 ? "bad" : "good"}>
          {plan.violations > 0 ? String(plan.violations) : "none"}
        </StatusMark>
        <Text size="xs" c="dimmed">
          {`${formatNumber(Number(plan.expected_violations.toFixed(2)))} with the errors of the models`}
        </Text>
      </Table.Td>
      <Table.Td>{plan.unplaced.length > 0 ? plan.unplaced.length : "none"}</Table.Td>
    </Table.Tr>
  );
}
