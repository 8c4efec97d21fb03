import { Button, Group, Text, UnstyledButton } from "@mantine/core";
import type { PolicyCheck } from "@/lib/api/types";
import { VERDICTS } from "../automaton/AutomatonView";
import { exampleSteps, type Steps, toggled } from "./bench";
import classes from "./TraceBench.module.css";

interface Props {
  check: PolicyCheck;
  steps: Steps;
  onSteps: (steps: Steps) => void;
  run: { states: number[]; verdicts: ("T" | "F" | "?")[] } | undefined;
  /** The step whose place in the automaton is shown. */
  chosen: number;
  onChoose: (step: number) => void;
}

const MOST_STEPS = 40;

/** A trace built by hand: toggle what holds in each step and see the verdict of the policy. */
export function TraceBench({ check, steps, onSteps, run, chosen, onChoose }: Props) {
  const names = [...(check.propositions ?? []), ...(check.unused ?? [])];
  return (
    <div role="group" aria-label="Trace bench">
      <Group gap={6} mb={6}>
        <Button
          size="compact-xs"
          variant="default"
          disabled={steps.length >= MOST_STEPS}
          onClick={() => onSteps([...steps, []])}
        >
          Add step
        </Button>
        <Button
          size="compact-xs"
          variant="default"
          disabled={steps.length === 0}
          onClick={() => onSteps(steps.slice(0, -1))}
        >
          Remove last step
        </Button>
        <Button size="compact-xs" variant="default" disabled={steps.length === 0} onClick={() => onSteps([])}>
          Clear
        </Button>
        <Button
          size="compact-xs"
          variant="default"
          disabled={(check.examples?.length ?? 0) === 0}
          onClick={() => onSteps(exampleSteps(check.examples?.[0]))}
        >
          Show a violation
        </Button>
      </Group>
      {steps.length === 0 ? (
        <Text size="sm" c="dimmed">
          Add a step and select its events.
        </Text>
      ) : (
        <div style={{ overflowX: "auto" }}>
          <table className={classes["bench"]}>
            <thead>
              <tr>
                <td />
                {steps.map((_, i) => (
                  <th key={i} scope="col" className={i === chosen ? classes["chosen"] : undefined}>
                    <UnstyledButton
                      fz="sm"
                      aria-label={`Show step ${i + 1}`}
                      aria-pressed={i === chosen}
                      onClick={() => onChoose(i)}
                    >
                      {i + 1}
                    </UnstyledButton>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {names.map((name) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  {steps.map((present, i) => (
                    <td key={i}>
                      <button
                        type="button"
                        className={classes["cell"]}
                        aria-pressed={present.includes(name)}
                        aria-label={`${name} in step ${i + 1}`}
                        onClick={() => onSteps(toggled(steps, i, name))}
                      >
                        {present.includes(name) ? "●" : ""}
                      </button>
                    </td>
                  ))}
                </tr>
              ))}
              <tr>
                <th scope="row">state</th>
                {steps.map((_, i) => (
                  <td key={i}>{run?.states[i + 1] ?? "–"}</td>
                ))}
              </tr>
              <tr>
                <th scope="row">verdict</th>
                {steps.map((_, i) => {
                  const verdict = run?.verdicts[i + 1];
                  return (
                    <td key={i} className={classes["outcome"]} data-verdict={verdict} data-step={i + 1}>
                      {verdict ? VERDICTS[verdict] : "–"}
                    </td>
                  );
                })}
              </tr>
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}
