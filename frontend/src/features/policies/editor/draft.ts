import type { EventKind, PolicyBinding, PolicyBindings, PolicyDefinition, PolicyTimer } from "@/lib/api/types";

/** A policy as it is being written. Bindings of propositions that the formula has lost are kept, in case they come back. */
export interface Draft {
  id: string;
  title: string;
  formula: string;
  subject: PolicyDefinition["subject"];
  propositions: Record<string, PolicyBinding>;
  timer: PolicyTimer | null;
  severity: PolicyDefinition["severity"];
  symptoms: string[];
  causes: string[];
  violation: string;
  note: string;
  message: string;
}

export const EMPTY: Draft = {
  id: "",
  title: "",
  formula: "",
  subject: "rnic",
  propositions: {},
  timer: null,
  severity: "warning",
  symptoms: [],
  causes: [],
  violation: "",
  note: "",
  message: "",
};

export function draftOf(definition: PolicyDefinition, id: string): Draft {
  const { propositions = {}, timer = null, symptoms = [], causes = [], note } = definition;
  return { ...EMPTY, ...definition, id, propositions, timer, symptoms, causes, note: note ?? "" };
}

/** `A port comes back` → `a-port-comes-back`. */
export function nameOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[-0-9]+|-+$/g, "")
    .slice(0, 63);
}

const isBound = (binding: PolicyBinding) => binding.kind.length > 0;

/** What the formula is about: bindings with an event, of propositions that the formula or the timer speaks of, or that were bound for their own sake. */
export function bindingsOf(draft: Draft): PolicyBindings {
  const propositions = Object.fromEntries(Object.entries(draft.propositions).filter(([, binding]) => isBound(binding)));
  return { formula: draft.formula, subject: draft.subject, propositions, timer: draft.timer };
}

export function definitionOf(draft: Draft): PolicyDefinition {
  const { title, severity, symptoms, causes, violation, note } = draft;
  return {
    ...bindingsOf(draft),
    title: title.trim(),
    severity,
    symptoms,
    causes,
    violation: violation.trim(),
    note: note.trim() || null,
  };
}

/** Propositions to show a row for: those of the formula, then what else is bound. The timer's is set by none. */
export function rowsOf(draft: Draft, inFormula: readonly string[]): string[] {
  const others = Object.keys(draft.propositions).filter(
    (name) => !inFormula.includes(name) && isBound(draft.propositions[name] ?? { kind: [] }),
  );
  return [...inFormula, ...others].filter((name) => name !== draft.timer?.name);
}

/** Kinds of events that can be of a subject, by their source, as a picker takes them. */
export function kindChoices(
  kinds: readonly EventKind[],
  subject: Draft["subject"],
): { group: string; items: { value: string; label: string }[] }[] {
  const groups = new Map<string, { value: string; label: string }[]>();
  for (const { kind, label, source, subjects } of kinds) {
    if (subjects.includes(subject)) groups.set(source, [...(groups.get(source) ?? []), { value: kind, label }]);
  }
  return [...groups].map(([group, items]) => ({ group, items }));
}

/** Fields that all of these kinds have; those are what a proposition bound to them can ask for. */
export function fieldsOf(
  kinds: readonly EventKind[],
  chosen: readonly string[],
): { field: string; values: (string | boolean)[] }[] {
  const found = chosen.flatMap((name) => kinds.find(({ kind }) => kind === name) ?? []);
  const [first, ...rest] = found;
  if (!first) return [];
  return Object.entries(first.when)
    .filter(([field]) => rest.every((kind) => field in kind.when))
    .map(([field, values]) => ({
      field,
      values: found.every(({ when }) => (when[field]?.length ?? 0) > 0) ? values : [],
    }));
}

/** The bindings once the subject is another: kinds that cannot be of it go. */
export function rebound(
  propositions: Draft["propositions"],
  kinds: readonly EventKind[],
  subject: Draft["subject"],
): Draft["propositions"] {
  const fits = (name: string) => kinds.find(({ kind }) => kind === name)?.subjects.includes(subject) ?? false;
  return Object.fromEntries(
    Object.entries(propositions).map(([name, binding]) => [name, { ...binding, kind: binding.kind.filter(fits) }]),
  );
}
