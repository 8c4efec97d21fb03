import { SegmentedControl, Table, Text } from "@mantine/core";
import { useMemo, useState } from "react";
import type { LabTest } from "@/lib/api/types";
import { formatNumber } from "@/lib/format";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { ListPanel } from "@/lib/ui/ListPanel";
import { StatusMark } from "@/lib/ui/StatusMark";
import { metricsText, phaseText, valueText, varying } from "./labText";
import { useCampaignTests } from "./queries";

const TITLES = ["Test", "Phase", "Result", "Metrics", "What differs", "Time"] as const;

function Result({ test }: { test: LabTest }) {
  if (test.kind === "reset") return <Text size="sm">Reset</Text>;
  if (test.status !== "ok") return <StatusMark tone="warn">{test.reason ?? test.status}</StatusMark>;
  if (test.symptoms.length === 0) return <StatusMark tone="good">No symptom</StatusMark>;
  return <StatusMark tone="bad">{test.symptoms.join(", ")}</StatusMark>;
}

function TestRow({ test, names }: { test: LabTest; names: readonly string[] }) {
  const config = names
    .filter((name) => name in test.config)
    .map((name) => `${name}=${valueText(test.config[name])}`)
    .join(" ");
  return (
    <Table.Tr>
      <Table.Td>{test.n}</Table.Td>
      <Table.Td style={{ whiteSpace: "nowrap" }}>{phaseText(test.phase)}</Table.Td>
      <Table.Td>
        <Result test={test} />
      </Table.Td>
      <Table.Td>{metricsText(test.metrics) || "–"}</Table.Td>
      <Table.Td style={{ fontFamily: "var(--ww-mono)", fontSize: "0.75rem", overflowWrap: "anywhere" }}>
        {config || "–"}
      </Table.Td>
      <Table.Td style={{ whiteSpace: "nowrap" }}>
        {test.seconds === null ? "–" : `${formatNumber(test.seconds)} s`}
      </Table.Td>
    </Table.Tr>
  );
}

function TestTable({ tests }: { tests: readonly LabTest[] }) {
  const names = useMemo(() => varying(tests), [tests]);
  return (
    <HeadedTable label="Tests" titles={TITLES}>
      {tests.map((test) => (
        <TestRow key={test.line} test={test} names={names} />
      ))}
    </HeadedTable>
  );
}

/** Every test of the campaign in its order, as its journal has them. */
export function TestsPanel({ id, running }: { id: string; running: boolean }) {
  const [which, setWhich] = useState("all");
  const tests = useCampaignTests(id, which === "bad", running);
  return (
    <ListPanel
      title="Tests"
      long
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Which tests"
          value={which}
          onChange={setWhich}
          data={[
            { value: "all", label: "All" },
            { value: "bad", label: "With a symptom" },
          ]}
        />
      }
      pages={tests}
      empty={
        <EmptyState title={which === "bad" ? "No test had a symptom" : running ? "No test yet" : "No test was run"}>
          {which === "bad" && "A decline of a metric without a symptom is among all tests."}
          {which === "all" && running && "The first test appears within seconds of the start."}
        </EmptyState>
      }
      moreLabel="Show more tests"
    >
      {(items) => <TestTable tests={items} />}
    </ListPanel>
  );
}
