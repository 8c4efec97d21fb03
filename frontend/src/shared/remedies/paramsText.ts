import type { RemedyAction } from "@/lib/api/types";

function valueText(value: unknown, unit: string | null | undefined): string {
  const text =
    typeof value === "number" ? value.toLocaleString("en") : typeof value === "string" ? value : JSON.stringify(value);
  return unit && unit !== "none" ? `${text} ${unit}` : text;
}

/** `max-idle 60,000 ms · Flow limit 200,000 flows`: parameters for reading, named as in the catalogue of actions once that is known. */
export function paramsText(
  params: Readonly<Record<string, unknown>>,
  action: Pick<RemedyAction, "params"> | undefined,
): string {
  const pairs = Object.entries(params).filter(([, value]) => value !== null && value !== undefined && value !== "");
  if (pairs.length === 0) return "no parameters";
  return pairs
    .map(([name, value]) => {
      const known = action?.params.find((param) => param.name === name);
      return `${known?.label ?? name.replaceAll("_", " ")} ${valueText(value, known?.unit)}`;
    })
    .join(" · ");
}

/** A value before or after an operation; an absent one is named as such. */
export function operand(value: unknown): string {
  if (value === null || value === undefined || value === "") return "not set";
  return typeof value === "string" ? value : JSON.stringify(value);
}
