import type { Matcher } from "@/lib/api/types";

export const NAMES: readonly { value: Matcher["name"]; label: string; example: string }[] = [
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

export function nameLabel(name: Matcher["name"]): string {
  return NAMES.find((each) => each.value === name)?.label ?? name;
}

export function operatorLabel(op: Matcher["op"]): string {
  return OPERATORS.find((each) => each.value === op)?.label ?? op;
}

/** `symptom is S1, host matches host0[1-3]` */
export function matchersText(matchers: readonly Matcher[]): string {
  if (matchers.length === 0) return "everything";
  return matchers
    .map(({ name, op, value }) => `${nameLabel(name)} ${operatorLabel(op)} ${value === "" ? "empty" : value}`)
    .join(", ");
}
