import type { Campaign, CampaignSummary, FoundCause, LabParameter, LabReport, LabTest } from "@/lib/api/types";
import { formatNumber, formatShare, MISSING, plural } from "@/lib/format";
import { formatDuration } from "@/lib/time/format";

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const POWER_FROM_DIGITS = 10;

/** A count of any size, given as text: `1,953,125`, from ten digits on `2.4 × 10¹²`. */
export function countText(digits: string | null): string {
  if (digits === null || !/^\d+$/.test(digits)) return MISSING;
  if (digits.length < POWER_FROM_DIGITS) return Number(digits).toLocaleString("en");
  const power = [...String(digits.length - 1)].map((digit) => SUPERSCRIPTS[Number(digit)]).join("");
  return `${digits[0]}.${digits[1]} × 10${power}`;
}

/** How many times fewer tests than brute force: `10,850×`; null while nothing is saved. */
export function savedText(bruteForce: string | null, tests: number): string | null {
  if (bruteForce === null || tests === 0 || !/^\d+$/.test(bruteForce)) return null;
  const times = BigInt(bruteForce) / BigInt(tests);
  if (times < 2n) return null;
  return `${countText(String(times))}×`;
}

/**
 * What brute force over the parameters that a campaign varies would take: a sentence without its end, and how many times
 * fewer tests the campaign needs. Brute force locates no limit, so a search of few parameters may well take more tests.
 */
export function effortText(
  bruteForce: string,
  tests: number,
  varied: readonly string[] | null,
): { text: string; saved: string | null } {
  const [only] = varied ?? [];
  const over = varied?.length === 1 ? only : `the ${varied === null ? "" : `${varied.length} `}varied parameters`;
  const each = varied?.length === 1 ? "up to five values" : "up to five values of each";
  const count = bruteForce === "1" ? "1 test" : `${countText(bruteForce)} tests`;
  const more = BigInt(tests) > BigInt(bruteForce) ? "; the other tests locate limits and confirm causes" : "";
  return { text: `Brute force over ${over} (${each}) would take ${count}${more}`, saved: savedText(bruteForce, tests) };
}

/** What an ended campaign cost: `368 tests and 338 resets`. Brute force, too, would reset a device that remembers. */
export function doneText({ progress, report }: Pick<Campaign, "progress" | "report">): string {
  const resets = report?.resets ?? 0;
  const tests = plural(progress.tests - resets, "test");
  return resets === 0 ? tests : `${tests} and ${plural(resets, "reset")}`;
}

/** How much of its budget or its time a campaign has used, whichever is more: a bound, since it usually ends earlier. */
export function usedShare({ options, progress }: Pick<CampaignSummary, "options" | "progress">): number {
  return Math.min(1, Math.max(progress.tests / options.budget, progress.seconds / options.max_time_s));
}

/** `412 of at most 1,000 tests · 3 with a symptom · at most 5 min left` */
export function progressText({ options, progress }: Pick<CampaignSummary, "options" | "progress">): string {
  const left = progress.most_seconds_left;
  return [
    `${progress.tests.toLocaleString("en")} of at most ${plural(options.budget, "test")}`,
    ...(progress.bad > 0 ? [`${progress.bad.toLocaleString("en")} with a symptom`] : []),
    ...(progress.errors > 0 ? [plural(progress.errors, "device error")] : []),
    ...(left === null ? [] : [`at most ${formatDuration(left * 1000)} left`]),
  ].join(" · ");
}

const PHASES: Readonly<Record<string, string>> = {
  baseline: "Measure the baseline",
  discover: "Search for failures",
  minimise: "Minimise a failure",
  threshold: "Find thresholds",
  boundary: "Fit boundaries",
  permute: "Check each parameter",
  verify: "Verify on fresh configurations",
  control: "Repeat the baseline",
};

export function phaseText(phase: string | null): string {
  return phase === null ? "" : (PHASES[phase] ?? phase);
}

/** A reason as a sentence of its own: `budget reached` → `Budget reached.` */
export function asSentence(reason: string): string {
  const text = reason.trim();
  const ended = /[.!?…]$/.test(text) ? text : `${text}.`;
  return ended.charAt(0).toUpperCase() + ended.slice(1);
}

/** How long the tests of a campaign took: its report knows best, and a quick one took no whole second. */
export function tookText({ report, progress }: Pick<Campaign, "report" | "progress">): string {
  const seconds = report?.seconds ?? progress.seconds;
  return seconds < 1 ? "less than a second" : formatDuration(seconds * 1000);
}

/** What came of a campaign in one line of the list. */
export function resultText({
  causes,
  complete,
  message,
}: Pick<CampaignSummary, "causes" | "complete" | "message">): string {
  if (causes === null) return message ?? "";
  const found = causes === 0 ? "Nothing wrong found" : `${plural(causes, "cause")} found`;
  return complete === false ? `${found}; incomplete` : found;
}

/** Up to which strength nothing else is wrong, in words. */
export function coverageText({
  complete,
  strength,
  causes,
  varied,
}: Pick<LabReport, "complete" | "strength" | "causes" | "varied">): string {
  const other = causes.length > 0 ? "Nothing else was found" : "Nothing wrong was found";
  if (strength === 0) return complete ? `${other}.` : "The search ended before any combination was covered.";
  if (varied.length === 1) return `${other} at any level of ${varied[0]}, the only parameter that varied.`;
  if (strength === 1) return `${other} at any level of any varied parameter, one at a time.`;
  if (strength >= varied.length) return `${other} in every combination of the ${varied.length} varied parameters.`;
  return `${other} in every combination of any ${strength} of the ${varied.length} varied parameters.`;
}

export function valueText(value: unknown): string {
  if (typeof value === "boolean") return value ? "on" : "off";
  if (typeof value === "number") return formatNumber(value);
  if (Array.isArray(value)) return value.map(valueText).join(" → ");
  return value === null || value === undefined ? MISSING : String(value);
}

/** The range or the values of a parameter: `1 to 64 masks`, `send, write, read`. */
export function rangeText({ kind, low, high, unit, values }: LabParameter): string {
  if (kind === "boolean") return "on, off";
  if (kind === "integer") return `${valueText(low)} to ${valueText(high)}${unit ? ` ${unit}` : ""}`;
  return values.map(valueText).join(kind === "sequence" ? " · " : ", ");
}

/** `last good 23, first bad 24 masks` */
export function thresholdText({ last_good, first_bad, unit }: FoundCause["thresholds"][number]): string {
  return `last good ${formatNumber(last_good)}, first bad ${formatNumber(first_bad)}${unit ? ` ${unit}` : ""}`;
}

/** The name of a cause in a title: its symptom, or the metric that gets worse. */
export function causeTitle(cause: Pick<FoundCause, "symptom" | "metric" | "effect">): string {
  if (cause.symptom !== null) return cause.symptom;
  const change = cause.metric === null ? null : (cause.effect[cause.metric]?.change ?? null);
  const metric = cause.metric ?? "Performance";
  return change === null
    ? `${metric} gets worse`
    : `${metric} ${change < 0 ? "−" : "+"}${formatShare(Math.abs(change))}`;
}

/** What differs between the failing configuration and its nearest neighbour that passes. */
export function differences(
  cause: Pick<FoundCause, "failing" | "passing">,
): { name: string; failing: string; passing: string }[] {
  return Object.keys(cause.failing)
    .filter((name) => name in cause.passing)
    .map((name) => ({ name, failing: valueText(cause.failing[name]), passing: valueText(cause.passing[name]) }))
    .filter(({ failing, passing }) => failing !== passing);
}

/** Those parameters whose value is not the same in all of these tests: what a reader compares. */
export function varying(tests: readonly Pick<LabTest, "config">[]): string[] {
  const seen = new Map<string, Set<string>>();
  for (const { config } of tests)
    for (const [name, value] of Object.entries(config)) {
      const values = seen.get(name) ?? new Set<string>();
      seen.set(name, values.add(valueText(value)));
    }
  return [...seen].filter(([, values]) => values.size > 1).map(([name]) => name);
}

export function metricsText(metrics: LabTest["metrics"]): string {
  return Object.entries(metrics)
    .map(([name, value]) => `${name} ${formatNumber(value)}`)
    .join(", ");
}
