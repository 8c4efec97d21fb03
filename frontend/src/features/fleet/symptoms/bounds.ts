import type { SymptomDefinition } from "@/lib/api/types";
import { formatValue } from "@/lib/format";

type Bound = SymptomDefinition["conditions"][number]["raise"];

const WORDS: readonly { key: keyof Bound; word: string }[] = [
  { key: "at_least", word: "at least" },
  { key: "at_most", word: "at most" },
  { key: "above", word: "above" },
  { key: "below", word: "below" },
];

/** `at least 10%`, `above 2 s and below 9 s`; a dash where there is no bound. */
export function boundText(bound: Bound | null, unit: string): string {
  const parts = WORDS.flatMap(({ key, word }) => {
    const value = bound?.[key];
    return value === null || value === undefined ? [] : [`${word} ${formatValue(value, unit)}`];
  });
  return parts.join(" and ") || "–";
}

export const ROLES: Readonly<Record<string, string>> = {
  required: "required; when it stops, the symptom clears",
  gate: "required to raise; ignored afterwards",
  supporting: "evidence only",
};

/** The summary's template for reading: `{reoffload_ratio:.0%}` becomes `⟨Re-offload ratio⟩`. */
export function templateText(template: string, conditions: SymptomDefinition["conditions"]): string {
  return template.replace(
    /\{(\w+)[^}]*\}/g,
    (_, signal: string) =>
      `⟨${conditions.find((each) => each.signal === signal)?.label ?? signal.replaceAll("_", " ")}⟩`,
  );
}
