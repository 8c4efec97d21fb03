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

function countdown(deadline: string, now: number): string {
  const left = Date.parse(deadline) - now;
  return left > 0 ? `${formatDuration(left)} left` : "deadline reached";
}

function stateOf(
  fact: Change,
  verifying: boolean,
  now: number,
  clock: (at: string) => string,
): Omit<Fact, "name" | "title"> {
  if (fact.confirmed_at !== null) return { tone: "good", text: `Confirmed at ${clock(fact.confirmed_at)}` };
  if (verifying) return { tone: "waiting", text: `Waiting, ${countdown(fact.deadline, now)}` };
  return { tone: "bad", text: "Not confirmed" };
}

/** What is known of an applied remedy: its change on the host, and the symptom of its incident (without one, the signal it changes). */
export function factsOf({ state, change, effect, symptom }: Known, now: number, clock: (at: string) => string): Fact[] {
  const verifying = state === "verifying";
  const facts: Fact[] = [];
  if (change) facts.push({ name: "change", title: "Change on the host", ...stateOf(change, verifying, now, clock) });
  if (symptom) {
    const wait = verifying && effect ? `, ${countdown(effect.deadline, now)}` : "";
    facts.push({
      name: "symptom",
      title: `Symptom ${symptom.symptom}: ${symptom.title}`,
      ...(symptom.present
        ? { tone: "bad", text: `Present${wait}` }
        : { tone: "quiet", text: symptom.cleared_at ? `Cleared at ${clock(symptom.cleared_at)}` : "Cleared" }),
    });
  } else if (effect) facts.push({ name: "symptom", title: "Effect", ...stateOf(effect, verifying, now, clock) });
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
