import type { NewSloClass, SloClass } from "@/lib/api/types";

/** What stands in a field for a number: a text while someone is typing, such as `0.` on the way to 0.1. */
type Typed = number | string;

/** A class as its form holds it: empty where nothing is promised, loss in percent. */
export interface ClassDraft {
  name: string;
  min: Typed;
  max: Typed;
  p50: Typed;
  p99: Typed;
  lossPercent: Typed;
  description: string;
}

type Field = keyof ClassDraft;

const or = (value: number | null | undefined): Typed => value ?? "";

/** The number that stands in a field; null when it is empty or no number. */
function read(value: Typed): number | null {
  if (typeof value === "string" && value.trim() === "") return null;
  return Number.isFinite(Number(value)) ? Number(value) : null;
}

export function toDraft(known: SloClass | null): ClassDraft {
  if (!known) return { name: "", min: "", max: "", p50: "", p99: "", lossPercent: "", description: "" };
  return {
    name: known.name,
    min: known.min_mbps,
    max: known.max_mbps,
    p50: or(known.p50_us),
    p99: or(known.p99_us),
    lossPercent: known.loss === null || known.loss === undefined ? "" : Number((known.loss * 100).toPrecision(6)),
    description: known.description ?? "",
  };
}

function isNone(value: number | null | undefined): value is null | undefined {
  return value === null || value === undefined;
}

const NAME = /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/;

/** What is wrong, by field; empty when the class can be saved. The server checks again, with the links of the fleet. */
export function problemsOf(draft: ClassDraft, taken: readonly string[]): Partial<Record<Field, string>> {
  const problems: Partial<Record<Field, string>> = {};
  if (!draft.name) problems.name = "A name is required";
  else if (!NAME.test(draft.name))
    problems.name = "Use lower-case letters, digits, '-', '_' and '.', starting and ending with a letter or digit";
  else if (taken.includes(draft.name)) problems.name = "There is a class with this name";
  const [min, max, p50, p99] = [draft.min, draft.max, draft.p50, draft.p99].map(read);
  const loss = read(draft.lossPercent);
  if (isNone(min)) problems.min = "A guaranteed rate is required; 0 guarantees nothing";
  if (isNone(max)) problems.max = "A maximum is required";
  else if (max <= 0) problems.max = "The maximum must be above 0";
  else if (!isNone(min) && min > max) problems.max = "The maximum must be at least the guaranteed rate";
  if (!isNone(p50) && p50 <= 0) problems.p50 = "The delay must be above 0";
  if (!isNone(p99) && p99 <= 0) problems.p99 = "The delay must be above 0";
  else if (!isNone(p50) && !isNone(p99) && p50 > p99) problems.p99 = "The 99th percentile must be at least the median";
  if (loss !== null && (loss < 0 || loss >= 100)) problems.lossPercent = "The loss must be at least 0 and below 100%";
  return problems;
}

/** The class as the API takes it; only for a draft without problems. */
export function toBody(draft: ClassDraft): NewSloClass {
  const loss = read(draft.lossPercent);
  return {
    name: draft.name,
    min_mbps: read(draft.min) ?? 0,
    max_mbps: read(draft.max) ?? 0,
    p50_us: read(draft.p50),
    p99_us: read(draft.p99),
    // 0.07 / 100 is not quite 0.0007.
    loss: loss === null ? null : Number((loss / 100).toPrecision(12)),
    description: draft.description.trim(),
  };
}

/** A stored class as a new one: how a deleted class comes back. */
export function toNew({ name, min_mbps, max_mbps, p50_us, p99_us, loss, description }: SloClass): NewSloClass {
  return { name, min_mbps, max_mbps, p50_us, p99_us, loss, description };
}
