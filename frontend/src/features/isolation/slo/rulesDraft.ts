import type { SloRule, SloRules } from "@/lib/api/types";

/** The rules while someone edits them: what they were before each change, and the version that they started from. */
export interface RulesDraft {
  rules: readonly SloRule[];
  past: readonly (readonly SloRule[])[];
  version: number;
}

/** One more change; without a draft yet it starts from what is stored. */
export function edited(draft: RulesDraft | null, stored: SloRules, rules: readonly SloRule[]): RulesDraft {
  return draft
    ? { ...draft, rules, past: [...draft.past, draft.rules] }
    : { rules, past: [stored.rules], version: stored.version };
}

/** Without the last change; null when none is left. */
export function undone(draft: RulesDraft): RulesDraft | null {
  const before = draft.past.at(-1);
  if (before === undefined || draft.past.length === 1) return null;
  return { ...draft, rules: before, past: draft.past.slice(0, -1) };
}

/** The rule at `from` one place up (-1) or down (1); rules at the edges stay. */
export function moved(rules: readonly SloRule[], from: number, by: -1 | 1): SloRule[] {
  const to = from + by;
  const [rule, other] = [rules[from], rules[to]];
  const next = [...rules];
  if (rule === undefined || other === undefined) return next;
  next[to] = rule;
  next[from] = other;
  return next;
}

/** A rule in place of another one, or at the end. */
export function withRule(rules: readonly SloRule[], at: number | null, rule: SloRule): SloRule[] {
  return at === null ? [...rules, rule] : rules.map((each, i) => (i === at ? rule : each));
}

/** Rules after one that matches every VF never assign anything. */
export function unreachableFrom(rules: readonly SloRule[]): number {
  const catchAll = rules.findIndex((rule) => rule.matchers.length === 0);
  return catchAll < 0 ? rules.length : catchAll + 1;
}
