import type { ParamInfo, RemedyAction } from "@/lib/api/types";
import { formatNumber } from "@/lib/format";

export type ParamValues = Record<string, string | number>;

/** Values that a page derives for an action, and how. */
export interface StartValues {
  params: Readonly<Record<string, string | number>>;
  why?: string;
}

/** What the form starts with: the suggestion's values, then what the page knows (the PCI address), else empty. */
export function initialValues(
  action: RemedyAction,
  suggested: Readonly<Record<string, unknown>>,
  pci: string,
): ParamValues {
  return Object.fromEntries(
    action.params.map((param) => {
      const given = suggested[param.name];
      if (typeof given === "string" || typeof given === "number") return [param.name, given];
      return [param.name, param.name === "pci" ? pci : ""];
    }),
  );
}

function problemOf(param: ParamInfo, value: string | number | undefined): string | null {
  const empty = value === undefined || value === "";
  if (empty) return param.required ? `${param.label} is required` : null;
  if (param.type === "integer") {
    if (typeof value !== "number" || !Number.isInteger(value)) return `${param.label} must be a whole number`;
    if (param.minimum !== null && value < param.minimum)
      return `${param.label} must be at least ${formatNumber(param.minimum)}`;
    if (param.maximum !== null && value > param.maximum)
      return `${param.label} must be at most ${formatNumber(param.maximum)}`;
    return null;
  }
  if (param.pattern !== null && !new RegExp(param.pattern).test(String(value)))
    return `${param.label} has an invalid format`;
  if (param.max_length !== null && String(value).length > param.max_length)
    return `${param.label} must have at most ${param.max_length} characters`;
  return null;
}

/** Errors by parameter; `_` holds what concerns several. Empty when the order can be sent. The agent checks again. */
export function validate(action: RemedyAction, values: ParamValues): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const param of action.params) {
    const problem = problemOf(param, values[param.name]);
    if (problem) errors[param.name] = problem;
  }
  const given = (name: string) => values[name] !== undefined && values[name] !== "";
  if (action.at_least_one.length > 0 && !action.at_least_one.some(given)) {
    const labels = action.params
      .filter((param) => action.at_least_one.includes(param.name))
      .map((param) => param.label);
    errors["_"] = `Give at least one of: ${labels.join(", ")}`;
  }
  return errors;
}

/** Only what was filled in is sent: an empty field means "unchanged". */
export function toParams(values: ParamValues): Record<string, string | number> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
}

/** Carries out a mask plan, so it is of one RNIC's flows at one time. */
export function isOfPlan(action: Pick<RemedyAction, "params">): boolean {
  return action.params.some((param) => param.name === "plan");
}

/** The action without parameters that the operator does not fill in: already set, or filled in by the server. */
export function askedOf(action: RemedyAction, settled: readonly string[]): RemedyAction {
  return { ...action, params: action.params.filter((param) => !settled.includes(param.name)) };
}

export function rangeText(param: ParamInfo): string {
  const unit = param.unit && param.unit !== "none" ? ` ${param.unit}` : "";
  if (param.minimum !== null && param.maximum !== null)
    return `${param.minimum.toLocaleString("en")} to ${param.maximum.toLocaleString("en")}${unit}`;
  if (param.max_length !== null && param.pattern === null) return `up to ${param.max_length} characters`;
  return "";
}
