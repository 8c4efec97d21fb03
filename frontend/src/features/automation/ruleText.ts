import type { AutomationRule, Matcher } from "@/lib/api/types";
import { NAMES } from "@/shared/matchers/matchers";

/** Conditions as one line, such as symptom = S1 and rack =~ r[1-4]. */
export function matchersText(matchers: readonly Matcher[]): string {
  return matchers.map(({ name, op, value }) => `${name} ${op} ${value === "" ? "nothing" : value}`).join(" and ");
}

/** What a rule waits for: an incident's finding, or a forecast. */
export const TRIGGERS: readonly { value: AutomationRule["trigger"]; label: string }[] = [
  { value: "finding", label: "A finding" },
  { value: "decline", label: "A predicted decline of bandwidth" },
];

/** Labels that an RNIC has whether anything is wrong with it or not. */
export const RNIC_LABELS = NAMES.filter(({ value }) => ["host", "rack", "pci", "model", "fw_ver"].includes(value));

/** Where the rule acts, in words. */
export function whereText({ trigger, matchers }: Pick<AutomationRule, "trigger" | "matchers">): string {
  return trigger === "decline"
    ? `a decline of bandwidth is predicted and ${matchersText(matchers)}`
    : matchersText(matchers);
}

/** When the rule acts, in words. */
export function windowText({ window_from, window_to }: Pick<AutomationRule, "window_from" | "window_to">): string {
  return window_from && window_to ? `from ${window_from} to ${window_to} UTC` : "at any time";
}

/** A rule has to say what it is for, as the server asks too. */
export function choosesSymptoms(matchers: readonly Matcher[]): boolean {
  return matchers.some(
    ({ name, op, value }) => (name === "symptom" || name === "cause") && (op === "=" || op === "=~") && value !== "",
  );
}
