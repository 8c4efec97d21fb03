import type { Remedy } from "@/lib/api/types";
import { formatExpected, formatValue, MISSING } from "@/lib/format";
import { formatDuration } from "@/lib/time/format";
import type { Tone } from "@/lib/ui/StatusMark";

type Change = NonNullable<Remedy["change"]>;
type Effect = NonNullable<Remedy["effect"]>;

export interface Fact {
  name: "change" | "symptom";
  title: string;
  tone: Tone;
  text: string;
}

type Known = Pick<Remedy, "state" | "change" | "effect" | "symptom">;

/** `waiting 0:42`: the time that is left until the deadline, as a clock counts it down. */
function waitText(deadline: string, now: number): string {
  const seconds = Math.ceil((Date.parse(deadline) - now) / 1000);
  if (seconds <= 0) return "waiting, deadline reached";
  return `waiting ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function stateOf(
  fact: Change,
  verifying: boolean,
  now: number,
  clock: (at: string) => string,
): Omit<Fact, "name" | "title"> {
  if (fact.confirmed_at !== null) return { tone: "good", text: `at ${clock(fact.confirmed_at)}` };
  if (verifying) return { tone: "waiting", text: waitText(fact.deadline, now) };
  return { tone: "bad", text: "no" };
}

/** What is known of an applied remedy: its change on the host, and the symptom of its incident (without one, the signal it changes). */
export function factsOf({ state, change, effect, symptom }: Known, now: number, clock: (at: string) => string): Fact[] {
  const verifying = state === "verifying";
  const facts: Fact[] = [];
  if (change) facts.push({ name: "change", title: "Change confirmed", ...stateOf(change, verifying, now, clock) });
  if (symptom) {
    const title = `Symptom ${symptom.symptom} cleared`;
    const { present, cleared_at } = symptom;
    if (!present)
      facts.push({ name: "symptom", title, tone: "good", text: cleared_at ? `at ${clock(cleared_at)}` : "yes" });
    else if (verifying && effect)
      facts.push({ name: "symptom", title, tone: "waiting", text: waitText(effect.deadline, now) });
    else facts.push({ name: "symptom", title, tone: "bad", text: "no, it is present" });
  } else if (effect) {
    facts.push({ name: "symptom", title: "Effect confirmed", ...stateOf(effect, verifying, now, clock) });
  }
  return facts;
}

/** `Cordoned: yes`, or with a number `Rate limit of the VF 0 Mbit/s, expected = 2500 Mbit/s` */
export function changeText({ label, measured, expected, unit }: Change): string {
  if (expected === "= 1" && unit === "none")
    return `${label}: ${measured === null ? MISSING : measured === 1 ? "yes" : "no"}`;
  return `${label} ${formatValue(measured, unit)}, expected ${formatExpected(expected, unit)}`;
}

/** `Re-offload ratio 1%, before 41%, expected < 5% for 20 s` */
export function effectText(effect: Effect): string {
  const { label, unit, measured, before, expected, for_s } = effect;
  const earlier = before === null ? "" : `, before ${formatValue(before, unit)}`;
  const lasting = for_s > 0 ? ` for ${formatDuration(for_s * 1000)}` : "";
  return `${label} ${formatValue(measured, unit)}${earlier}, expected ${formatExpected(expected, unit)}${lasting}`;
}
