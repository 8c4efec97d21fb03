import type { NewSloClass, SloClass } from "@/lib/api/types";

/** A class as its form holds it: empty where nothing is promised, loss in percent. */
export interface ClassDraft {
  name: string;
  min: number | "";
  max: number | "";
  p50: number | "";
  p99: number | "";
  lossPercent: number | "";
  description: string;
}

type Field = keyof ClassDraft;

const or = (value: number | null | undefined): number | "" => value ?? "";

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

const NAME = /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/;

/** What is wrong, by field; empty when the class can be saved. The server checks again, with the links of the fleet. */
export function problemsOf(draft: ClassDraft, taken: readonly string[]): Partial<Record<Field, string>> {
  const problems: Partial<Record<Field, string>> = {};
  if (!draft.name) problems.name = "A name is required";
  else if (!NAME.test(draft.name))
    problems.name = "Use lower-case letters, digits, '-', '_' and '.', starting and ending with a letter or digit";
  else if (taken.includes(draft.name)) problems.name = "There is a class with this name";
  if (draft.min === "") problems.min = "A guaranteed rate is required; 0 guarantees nothing";
  if (draft.max === "") problems.max = "A maximum is required";
  else if (draft.max <= 0) problems.max = "The maximum must be above 0";
  else if (draft.min !== "" && draft.min > draft.max) problems.max = "The maximum must be at least the guaranteed rate";
  if (draft.p50 !== "" && draft.p50 <= 0) problems.p50 = "The delay must be above 0";
  if (draft.p99 !== "" && draft.p99 <= 0) problems.p99 = "The delay must be above 0";
  else if (draft.p50 !== "" && draft.p99 !== "" && draft.p50 > draft.p99)
    problems.p99 = "The 99th percentile must be at least the median";
  if (draft.lossPercent !== "" && (draft.lossPercent < 0 || draft.lossPercent >= 100))
    problems.lossPercent = "The loss must be at least 0 and below 100%";
  return problems;
}

/** The class as the API takes it; only for a draft without problems. */
export function toBody(draft: ClassDraft): NewSloClass {
  const bound = (value: number | "") => (value === "" ? null : value);
  return {
    name: draft.name,
    min_mbps: Number(draft.min),
    max_mbps: Number(draft.max),
    p50_us: bound(draft.p50),
    p99_us: bound(draft.p99),
    loss: draft.lossPercent === "" ? null : draft.lossPercent / 100,
    description: draft.description.trim(),
  };
}

/** A stored class as a new one: how a deleted class comes back. */
export function toNew({ name, min_mbps, max_mbps, p50_us, p99_us, loss, description }: SloClass): NewSloClass {
  return { name, min_mbps, max_mbps, p50_us, p99_us, loss, description };
}
