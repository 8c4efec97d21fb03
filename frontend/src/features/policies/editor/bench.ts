import type { PolicyCheck } from "@/lib/api/types";

export type Steps = readonly (readonly string[])[];

/** A step with a proposition put in, or taken out. */
export function toggled(steps: Steps, step: number, name: string): Steps {
  return steps.map((present, i) =>
    i !== step ? present : present.includes(name) ? present.filter((each) => each !== name) : [...present, name],
  );
}

/** A shortest way to a violation as steps of the bench: what must show is put in, the rest left out. */
export function exampleSteps(example: NonNullable<PolicyCheck["examples"]>[number] | undefined): Steps {
  return (example ?? []).map((asks) => asks.filter(({ holds }) => holds).map(({ proposition }) => proposition));
}

/** Without names that the formula has lost. */
export function within(steps: Steps, propositions: readonly string[]): Steps {
  return steps.map((present) => present.filter((name) => propositions.includes(name)));
}
