import { Button, Group, SegmentedControl, Table, Text, UnstyledButton } from "@mantine/core";
import { useState } from "react";
import type { Automaton, PolicyBacktest, PolicyBindings } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { RANGES } from "@/lib/time/range";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { useBacktest } from "./queries";
import { CountBars } from "./states/StateStrip";
import { TraceStepper } from "./violations/TraceStepper";

const LENGTHS = { "1h": RANGES["1h"], "24h": RANGES["24h"], "7d": RANGES["7d"], "30d": 30 * RANGES["24h"] } as const;
type Length = keyof typeof LENGTHS;
const WORDS: Readonly<Record<Length, string>> = {
  "1h": "the last hour",
  "24h": "the last 24 hours",
  "7d": "the last week",
  "30d": "the last 30 days",
};

/** `would have fired 14 times in the last week, on 3 subjects` */
export function verdictText(result: PolicyBacktest, words: string): string {
  if (result.events === 0) return `No relevant events are stored for ${words}.`;
  const fired = result.violations === 0 ? "not have fired" : `have fired ${plural(result.violations, "time")}`;
  const on = result.violations > 0 ? `, on ${plural(result.subjects_violated, "subject")}` : "";
  return `It would ${fired} in ${words}${on}.`;
}

function Outcome({
  result,
  words,
  automaton,
}: {
  result: PolicyBacktest;
  words: string;
  automaton: Automaton | null | undefined;
}) {
  const { time } = useTimeFormat();
  const [selected, setSelected] = useState<string | null>(result.shown[0]?.id ?? null);
  const shown = result.shown.find(({ id }) => id === selected);
  return (
    <>
      <Text fw={600} role="status" data-violations={result.violations}>
        {verdictText(result, words)}
      </Text>
      <Text size="sm" c="dimmed" mb={6}>
        {[
          plural(result.events, "event"),
          plural(result.hosts, "host"),
          result.unknown > 0 && `${plural(result.unknown, "subject")} unknown at the end`,
          result.late > 0 && `${plural(result.late, "event")} came late`,
        ]
          .filter(Boolean)
          .join(" · ")}
      </Text>
      {result.cut_short && (
        <Text size="sm" style={{ color: "var(--ww-warn)" }}>
          ▲ Cut short: there are more events than one backtest reads. Events up to {time(result.read_until)} were read.
        </Text>
      )}
      {result.not_stored.length > 0 && (
        <Text size="sm" style={{ color: "var(--ww-warn)" }}>
          ▲ {result.not_stored.map(({ label }) => label).join(", ")}: these events stay on their host, so a backtest
          sees them only where collectors send them. Use the trace bench, or enable the policy and watch it.
        </Text>
      )}
      {result.violations > 0 && (
        <CountBars
          label="Violations over the range"
          counts={result.timeline.map(({ violations }) => violations)}
          when={(part) => `from ${time(result.timeline[part]?.at)}`}
        />
      )}
      {result.shown.length > 0 && (
        <HeadedTable label="Would have fired" titles={["At", "Host", "Subject", "Trace"]}>
          {result.shown.map((violation) => (
            <Table.Tr key={violation.id} bg={violation.id === selected ? "var(--ww-raised)" : undefined}>
              <Table.Td style={{ whiteSpace: "nowrap" }}>
                <UnstyledButton
                  fz="sm"
                  style={{ color: "var(--ww-accent)", textDecoration: "underline" }}
                  aria-expanded={violation.id === selected}
                  onClick={() => setSelected(violation.id === selected ? null : violation.id)}
                >
                  {time(violation.at)}
                </UnstyledButton>
              </Table.Td>
              <Table.Td>{violation.host}</Table.Td>
              <Table.Td style={{ fontFamily: "var(--ww-mono)", fontSize: "0.75rem" }}>{violation.subject}</Table.Td>
              <Table.Td style={{ fontFamily: "var(--ww-mono)", fontSize: "0.75rem" }}>
                {violation.trace
                  .slice(-3)
                  .map(({ propositions }) => propositions.join("+"))
                  .join(", then ")}
              </Table.Td>
            </Table.Tr>
          ))}
        </HeadedTable>
      )}
      {result.violations > result.shown.length && (
        <Text size="xs" c="dimmed">
          The newest {result.shown.length} are shown.
        </Text>
      )}
      {shown && <TraceStepper key={shown.id} automaton={automaton} violation={shown} />}
    </>
  );
}

interface Props {
  /** A stored policy, or a definition as it is being written. */
  what: { policy: string } | { definition: PolicyBindings };
  automaton: Automaton | null | undefined;
  disabled?: boolean;
}

/** What the policy would have found in stored events. */
export function BacktestPanel({ what, automaton, disabled = false }: Props) {
  const backtest = useBacktest();
  const [length, setLength] = useState<Length>("7d");
  const [ran, setRan] = useState<Length>("7d");
  const run = () => {
    const to = Date.now();
    setRan(length);
    backtest.mutate({
      ...what,
      from: new Date(to - LENGTHS[length] * 1000).toISOString(),
      to: new Date(to).toISOString(),
    });
  };
  return (
    <Panel
      title="Backtest"
      aside={
        <Text size="xs" c="dimmed">
          over stored events; nothing is saved
        </Text>
      }
    >
      <Group gap={8} mb={8}>
        <SegmentedControl
          aria-label="Range of the backtest"
          value={length}
          onChange={(value) => setLength(value as Length)}
          data={Object.keys(LENGTHS)}
        />
        <Button variant="default" loading={backtest.isPending} disabled={disabled} onClick={run}>
          Run the backtest
        </Button>
      </Group>
      {backtest.isError && <ProblemNotice error={backtest.error} onRetry={run} />}
      {backtest.data && !backtest.isPending && (
        <Outcome key={backtest.submittedAt} result={backtest.data} words={WORDS[ran]} automaton={automaton} />
      )}
      {!backtest.data && !backtest.isError && !backtest.isPending && (
        <Text size="sm" c="dimmed">
          Shows how often this policy would have fired, and on what.
        </Text>
      )}
    </Panel>
  );
}
