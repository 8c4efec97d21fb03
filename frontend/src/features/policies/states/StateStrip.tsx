import { Group, Text } from "@mantine/core";
import type { PolicyStateThen } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { segments, STATE_WORDS, summaryText } from "./segments";
import classes from "./StateStrip.module.css";

/** Of how much of the strip's height a state is: colour is not the only signal. */
const HEIGHT: Readonly<Record<PolicyStateThen, number>> = {
  violated: 16,
  unknown: 10,
  holding: 5,
  idle: 2,
  unheard: 0,
};
const SHOWN: readonly PolicyStateThen[] = ["violated", "unknown", "holding", "idle", "unheard"];

interface Props {
  label: string;
  times: readonly string[];
  states: readonly PolicyStateThen[];
  violations: readonly number[];
  stepS: number;
}

/** A policy's state over time: the taller and the redder, the worse. */
export function StateStrip({ label, times, states, violations, stepS }: Props) {
  const { time, clock } = useTimeFormat();
  return (
    <svg
      className={classes["strip"]}
      viewBox={`0 0 ${states.length} 16`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: ${summaryText(states, violations, stepS)}`}
    >
      {segments(states, violations).map(({ state, from, to, violations: count }) => (
        <rect
          key={from}
          className={classes[state]}
          x={from}
          y={16 - HEIGHT[state]}
          width={to - from}
          height={HEIGHT[state]}
          data-then={state}
        >
          <title>
            {[
              `${STATE_WORDS[state]}${count > 0 ? `, ${count} times` : ""}:`,
              `${time(times[from])} to ${clock(Date.parse(times[to - 1] ?? "") + stepS * 1000)}`,
            ].join(" ")}
          </title>
        </rect>
      ))}
    </svg>
  );
}

export function StripLegend() {
  return (
    <Group gap={12} aria-hidden="true">
      {SHOWN.map((state) => (
        <Text key={state} size="xs" c="dimmed" span>
          <svg className={classes["swatch"]} viewBox="0 0 14 16" height="12" aria-hidden="true">
            <rect className={classes[state]} x="0" y={16 - HEIGHT[state]} width="14" height={HEIGHT[state]} />
            {state === "unheard" && <path d="M0 15.5h14" stroke="var(--ww-line)" />}
          </svg>{" "}
          {STATE_WORDS[state]}
        </Text>
      ))}
    </Group>
  );
}

/** Violations in equal parts of time, oldest first; `when` says which part it is. */
export function CountBars({
  label,
  counts,
  when,
}: {
  label: string;
  counts: readonly number[];
  when: (part: number) => string;
}) {
  const most = Math.max(1, ...counts);
  const total = counts.reduce((sum, each) => sum + each, 0);
  return (
    <svg
      className={classes["bars"]}
      viewBox={`0 0 ${counts.length * 5} 20`}
      width={counts.length * 5}
      height={20}
      role="img"
      aria-label={`${label}: ${total.toLocaleString("en")}`}
    >
      {counts.map((count, i) => {
        const height = count > 0 ? Math.max(4, Math.round((count / most) * 20)) : 1;
        return (
          <rect
            key={i}
            className={count > 0 ? classes["bar"] : classes["noBar"]}
            x={i * 5}
            y={20 - height}
            width={4}
            height={height}
          >
            <title>{`${count}, ${when(i)}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}
