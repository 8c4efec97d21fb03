import type { Machine, State, StateNames, StateTable } from "../states";
import { useCatalogue } from "./useCatalogue";

const NONE: StateTable<never> = [];

/** The table of one state machine. The app loads the catalogue before any page; while it is absent the table is empty. */
export function useStates<M extends Machine>(machine: M): StateTable<StateNames[M]> {
  const { data } = useCatalogue();
  return data ? (data.states[machine] as readonly State[] as StateTable<StateNames[M]>) : NONE;
}
