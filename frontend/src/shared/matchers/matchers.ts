import type { Matcher } from "@/lib/api/types";

/** A label that a condition can be about, and what its values look like. */
export interface MatchedLabel<Name extends string> {
  value: Name;
  label: string;
  example: string;
}

/** A condition on one of a set of labels: the API has one such schema for each set. */
export interface Condition<Name extends string> {
  name: Name;
  op: Matcher["op"];
  value: string;
}

export const NAMES: readonly MatchedLabel<Matcher["name"]>[] = [
  { value: "host", label: "host", example: "host03" },
  { value: "rack", label: "rack", example: "r2" },
  { value: "pci", label: "PCI address", example: "0000:3b:00.0" },
  { value: "model", label: "model", example: "CX-6" },
  { value: "fw_ver", label: "firmware", example: "22.36.1010" },
  { value: "symptom", label: "symptom", example: "S1" },
  { value: "cause", label: "cause", example: "C5" },
  { value: "severity", label: "severity", example: "warning" },
  { value: "scope", label: "scope", example: "rack" },
];

export const OPERATORS: readonly { value: Matcher["op"]; label: string }[] = [
  { value: "=", label: "is" },
  { value: "!=", label: "is not" },
  { value: "=~", label: "matches" },
  { value: "!~", label: "does not match" },
];

function nameLabel(name: string, labels: readonly MatchedLabel<string>[]): string {
  return labels.find((each) => each.value === name)?.label ?? name;
}

export function operatorLabel(op: Matcher["op"]): string {
  return OPERATORS.find((each) => each.value === op)?.label ?? op;
}

/** `symptom is S1, host matches host0[1-3]` */
export function matchersText(
  matchers: readonly Condition<string>[],
  labels: readonly MatchedLabel<string>[] = NAMES,
): string {
  if (matchers.length === 0) return "everything";
  return matchers
    .map(({ name, op, value }) => `${nameLabel(name, labels)} ${operatorLabel(op)} ${value === "" ? "empty" : value}`)
    .join(", ");
}
