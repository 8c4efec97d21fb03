/** State machines as the API's catalogue serves them. Pure: `useStates` reads the tables, `StateMark` draws a state. */
import type { components } from "./api/schema";

type Schemas = components["schemas"];

export type State = Schemas["State"];
export type Outcome = State["outcome"];
export type Machine = keyof Schemas["StateMachines"];

/** The names that this version of the API has; a newer server may send others. */
export interface StateNames {
  remedy: Schemas["RemedyState"];
  command: Schemas["CommandState"];
  rollout: Schemas["RolloutState"];
  plan: Schemas["PlanState"];
  run: Schemas["RunState"];
  incident: Schemas["IncidentState"];
  campaign: Schemas["CampaignState"];
}

/** The states of one machine, in the order in which they are usually entered. */
export type StateTable<Name extends string = string> = readonly (State & { name: Name })[];

/** What can be a state's name in a link; whether there is one of it the tables know. */
export function isStateName(value: unknown): value is string {
  return typeof value === "string" && /^[a-z][a-z_]*$/.test(value);
}

export function find<Name extends string>(
  table: StateTable<Name>,
  name: string | null | undefined,
): StateTable<Name>[number] | undefined {
  return table.find((state) => state.name === name);
}

/** A state as its table has it. One that the table lacks goes by its name: neutral, and perhaps not over yet. */
export function stateOf(table: StateTable, name: string): State {
  return (
    find(table, name) ?? {
      name,
      label: name,
      sentence: `is in the state ${name}`,
      outcome: "neutral",
      over: false,
      undoable: false,
      event: null,
    }
  );
}

export function labelOf(table: StateTable, name: string): string {
  return stateOf(table, name).label;
}

/** A whole sentence, such as `The remedy was rejected.` */
export function sentenceOf(table: StateTable, name: string, subject: string): string {
  return `${subject} ${stateOf(table, name).sentence}.`;
}

export function outcomeOf(table: StateTable, name: string): Outcome {
  return stateOf(table, name).outcome;
}

export function isOver(table: StateTable, name: string): boolean {
  return stateOf(table, name).over;
}

/** It ended, and not as it should: it failed, was refused, rejected or undone. */
export function endedWithoutSuccess(table: StateTable, name: string): boolean {
  const { over, outcome } = stateOf(table, name);
  return over && outcome !== "good";
}

/** It is held up until somebody acts. */
export function needsAttention({ over, outcome }: State): boolean {
  return outcome === "bad" && !over;
}

/** Names of the states for which a condition holds, in the table's order. */
export function namesWhere<Name extends string>(table: StateTable<Name>, holds: (state: State) => boolean): Name[] {
  return table.filter(holds).map((state) => state.name);
}

/** The states in which more may happen. */
export function unfinished<Name extends string>(table: StateTable<Name>): Name[] {
  return namesWhere(table, (state) => !state.over);
}
