import { useStates } from "../api/useStates";
import { type Machine, type Outcome, stateOf } from "../states";
import { StatusMark, type Tone } from "./StatusMark";

/** The one place that gives an outcome its shape and colour. */
export const OUTCOME_TONES: Readonly<Record<Outcome, Tone>> = {
  waiting: "waiting",
  good: "good",
  bad: "bad",
  neutral: "quiet",
};

/** The state of a remedy, rollout, plan, run or incident; one that the catalogue lacks is shown by its name. */
export function StateMark({ machine, state, tone }: { machine: Machine; state: string; tone?: Tone }) {
  const { label, outcome } = stateOf(useStates(machine), state);
  return <StatusMark tone={tone ?? OUTCOME_TONES[outcome]}>{label}</StatusMark>;
}
