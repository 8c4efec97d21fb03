import type { IncidentSummary, Matcher } from "@/lib/api/types";

type Known = Pick<IncidentSummary, "host" | "pci" | "hosts" | "rack" | "symptoms" | "scope" | "fw_ver">;

/** A text as a regular expression that matches just it. */
export function quoted(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

function anyOf(name: Matcher["name"], values: readonly string[]): Matcher[] {
  const distinct = [...new Set(values)].filter(Boolean).sort();
  if (distinct.length === 0) return [];
  if (distinct.length === 1) return [{ name, op: "=", value: distinct[0] ?? "" }];
  return [{ name, op: "=~", value: distinct.map(quoted).join("|") }];
}

/**
 * Matchers that fit the incidents and as little else as possible: their symptoms, and where they are. They are a
 * proposal; the dialog shows what they match.
 */
export function matchersFor(incidents: readonly Known[]): Matcher[] {
  if (incidents.length === 0) return [];
  // All symptoms: one that is left out keeps notifying, because a silence must match each active finding.
  const symptoms = anyOf(
    "symptom",
    incidents.flatMap((each) => each.symptoms),
  );
  const firmware = [...new Set(incidents.map((each) => (each.scope === "fleet" ? each.fw_ver : null)))];
  if (firmware.length === 1 && firmware[0]) return [...symptoms, { name: "fw_ver", op: "=", value: firmware[0] }];
  const racks = [...new Set(incidents.map((each) => (each.scope === "rack" ? each.rack : null)))];
  if (racks.length === 1 && racks[0]) return [...symptoms, { name: "rack", op: "=", value: racks[0] }];
  const hosts = [...new Set(incidents.flatMap((each) => (each.hosts.length > 0 ? each.hosts : [each.host])))];
  const pcis =
    hosts.length === 1 && incidents.every((each) => each.scope === "rnic")
      ? anyOf(
          "pci",
          incidents.map((each) => each.pci),
        )
      : [];
  return [...symptoms, ...anyOf("host", hosts), ...pcis];
}
