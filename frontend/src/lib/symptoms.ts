/** What a finding may say besides S1 to S8 and B1 to B8; the catalogue may know better names. */
export const OTHER_SYMPTOMS: Readonly<Record<string, { mark: string; name: string }>> = {
  unexplained: { mark: "?", name: "Unexplained performance issue" },
  isolation: { mark: "⇄", name: "Isolation broken: one VF's traffic broke what another was promised" },
  silent: { mark: "∅", name: "Silent host: its telemetry has stopped" },
};

/** As short as a chip needs: `S1`, `?` for an unexplained issue, `∅` for a silent host. */
export function symptomMark(id: string): string {
  return OTHER_SYMPTOMS[id]?.mark ?? id;
}

/** The mark with the word that goes with it: `S1`, `? unexplained`. */
export function symptomWord(id: string): string {
  const other = OTHER_SYMPTOMS[id];
  return other ? `${other.mark} ${id}` : id;
}

export function isSymptom(id: string): boolean {
  return /^[SB][1-8]$/.test(id) || id in OTHER_SYMPTOMS;
}

const ORDER = ["silent", "unexplained", "isolation"];

/** B1 to B8 are behaviours of transport engines: known of models, without ranked causes. */
export function isBehaviour(id: string): boolean {
  return /^B[1-8]$/.test(id);
}

/** S1 to S8 by number, behaviours after them, then the others. */
export function compareSymptoms(a: string, b: string): number {
  const kind = (id: string) => (isBehaviour(id) ? -1 : /^S/.test(id) ? -2 : ORDER.indexOf(id));
  return kind(a) - kind(b) || (a < b ? -1 : a > b ? 1 : 0);
}
