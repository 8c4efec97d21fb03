import type { components } from "@/lib/api/schema";
import type { Machine, StateNames, StateTable } from "@/lib/states";
import states from "../../mock/states.json";

/** As much of a catalogue as tests look at. */
export const CATALOGUE: components["schemas"]["Catalogue"] = {
  symptoms: [
    {
      id: "S1",
      title: "Repetitive flow re-offloading",
      layer: "virtual switch",
      ratio: 0.171,
      cause: "C1",
      looks_like: null,
      near_misses: [],
      definition: null,
      behaviour: null,
    },
  ],
  causes: [],
  walls: [
    { id: "offloaded_flows", label: "Offloaded flows", unit: "flows", signal: "flows_offloaded", leads_to: ["S1"] },
  ],
  models: [],
  signals: [],
  fields: [],
  isolation: {
    states: [
      { id: "kept", label: "kept", meaning: "The VF got what was promised to it." },
      { id: "broken", label: "broken", meaning: "A promise to the VF was broken." },
      { id: "unknown", label: "unknown", meaning: "There is no evidence." },
      { id: "not promised", label: "not promised", meaning: "The VF has no SLO." },
    ],
    mechanisms: [
      { id: "ingress packet rate", label: "packet rate", meaning: "More packets than the RNIC can process." },
    ],
    roles: [
      { id: "victim", label: "victim", meaning: "A promise to it is broken." },
      { id: "aggressor", label: "aggressor", meaning: "It takes more than its fair share." },
    ],
  },
  states: states as components["schemas"]["StateMachines"],
};

/** The tables of states, as `useStates` hands them out. */
export const STATES = CATALOGUE.states as unknown as { [M in Machine]: StateTable<StateNames[M]> };
