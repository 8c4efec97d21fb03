import { Button, Group, Text } from "@mantine/core";
import {
  IconPlayerSkipBack,
  IconPlayerSkipForward,
  IconPlayerTrackNext,
  IconPlayerTrackPrev,
} from "@tabler/icons-react";
import { type KeyboardEvent, useState } from "react";
import type { Automaton, PolicyViolation } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { AutomatonView, VERDICTS } from "../automaton/AutomatonView";
import classes from "./TraceStepper.module.css";

type Trace = Pick<PolicyViolation, "trace" | "start" | "cut" | "host">;

/** Where a key leads from a step: -1 is before the first. */
export function stepTo(key: string, step: number, last: number): number | null {
  if (key === "ArrowRight" || key === "ArrowDown") return Math.min(last, step + 1);
  if (key === "ArrowLeft" || key === "ArrowUp") return Math.max(-1, step - 1);
  if (key === "Home") return -1;
  return key === "End" ? last : null;
}

/** The state before a step; steps of other policies change nothing, so the state before them is looked for further back. */
function stateAt({ trace, start }: Trace, step: number): number | null {
  return step < 0 ? start : (trace[step]?.state ?? null);
}

/** A trace on its automaton: one steps through it by arrow keys, and each event says when and what. */
export function TraceStepper({ automaton, violation }: { automaton: Automaton | null | undefined; violation: Trace }) {
  const { trace } = violation;
  const last = trace.length - 1;
  const [step, setStep] = useState(last);
  const { time } = useTimeFormat();
  const onKey = (event: KeyboardEvent) => {
    const next = stepTo(event.key, step, last);
    if (next === null || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    setStep(next);
  };
  const current = stateAt(violation, step);
  const shown = trace[step];
  const verdict = shown?.verdict ? `, ${VERDICTS[shown.verdict]}` : "";
  if (trace.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        The host reported no steps.
      </Text>
    );
  }
  return (
    <div role="group" aria-label="Trace, step by step" tabIndex={0} onKeyDown={onKey} data-step={step}>
      {automaton ? (
        <AutomatonView
          automaton={automaton}
          current={current}
          previous={step >= 0 && (shown?.propositions.length ?? 0) > 0 ? stateAt(violation, step - 1) : null}
        />
      ) : (
        <Text size="sm" c="dimmed">
          Automaton unavailable: the policy has changed since, or has too many states to draw.
        </Text>
      )}
      <Group gap={8} my={8}>
        <Button.Group>
          <Button
            size="compact-xs"
            variant="default"
            disabled={step < 0}
            onClick={() => setStep(-1)}
            aria-label="To the start"
          >
            <IconPlayerSkipBack size={13} />
          </Button>
          <Button
            size="compact-xs"
            variant="default"
            disabled={step < 0}
            onClick={() => setStep(step - 1)}
            aria-label="Step back"
          >
            <IconPlayerTrackPrev size={13} />
          </Button>
          <Button
            size="compact-xs"
            variant="default"
            disabled={step >= last}
            onClick={() => setStep(step + 1)}
            aria-label="Step forward"
          >
            <IconPlayerTrackNext size={13} />
          </Button>
          <Button
            size="compact-xs"
            variant="default"
            disabled={step >= last}
            onClick={() => setStep(last)}
            aria-label="To the end"
          >
            <IconPlayerSkipForward size={13} />
          </Button>
        </Button.Group>
        <Text size="sm" role="status">
          {step < 0
            ? `Before the first ${violation.cut ? "recorded step" : "step"}: state ${current ?? "unknown"}`
            : `Step ${step + 1} of ${trace.length}: ${shown?.text ?? ""} → state ${current ?? "unknown"}${verdict}`}
        </Text>
        <Text size="xs" c="dimmed">
          Arrow keys, Home and End step
        </Text>
      </Group>
      {violation.cut && (
        <Text size="xs" c="dimmed" mb={4}>
          Earlier steps of this subject are not stored.
        </Text>
      )}
      <ol className={classes["steps"]} aria-label="Steps">
        {trace.map((each, i) => (
          <li key={i}>
            <button
              type="button"
              className={classes["step"]}
              aria-current={i === step ? "step" : undefined}
              data-verdict={each.verdict ?? undefined}
              data-other={each.propositions.length === 0 || undefined}
              tabIndex={-1}
              onClick={() => setStep(i)}
            >
              <span>{i + 1}</span>
              <span style={{ whiteSpace: "nowrap" }}>
                {time(each.at)}
                {`.${new Date(each.at).getMilliseconds().toString().padStart(3, "0")}`}
              </span>
              <span>
                {each.text || each.kinds.join(", ")}
                {each.host && each.host !== violation.host ? ` on ${each.host}` : ""}
                {each.propositions.length > 0 ? (
                  <code> {each.propositions.join(" ")}</code>
                ) : (
                  " (not part of this policy)"
                )}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}
