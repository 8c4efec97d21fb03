import type { IncidentGroup, IncidentSummary } from "@/lib/api/types";
import type { Grouping } from "../filters/filters";

/** What a line of the list is. */
export type ListItem =
  | { kind: "row"; incident: IncidentSummary }
  | { kind: "head"; group: IncidentGroup; open: boolean }
  /** Rows of a group that are not loaded: they are on their way, or can be asked for. */
  | { kind: "rest"; group: IncidentGroup; loading: boolean; count: number };

/** What the reader opened or closed, by the group's value. */
export type Choices = ReadonlyMap<string, boolean>;

/** Groups are open as far as their rows are few enough to be read, and the first one is in any case. */
const READABLE = 100;

/** The title of the group of incidents without such a property. */
const WITHOUT: Readonly<Record<Grouping, string>> = {
  host: "Several hosts",
  rack: "No single rack",
  symptom: "Unknown symptom",
  model: "Unknown model",
  tenant: "No known tenant",
  assignee: "Unassigned",
};

export function groupTitle(by: Grouping, value: string, symptomName: (symptom: string) => string): string {
  if (value === "") return WITHOUT[by];
  const name = by === "symptom" ? symptomName(value) : value;
  return name === value ? value : `${value} ${name}`;
}

/** Values of the groups that are open: as the reader chose, else by their size. */
export function openGroups(groups: readonly IncidentGroup[], choices: Choices): string[] {
  let before = 0;
  return groups
    .filter(({ value, incidents }, i) => {
      before += incidents;
      return choices.get(value) ?? (i === 0 || before <= READABLE);
    })
    .map(({ value }) => value);
}

/** Heads, the rows of open groups below them, and what is missing of these. */
export function groupedItems(
  groups: readonly IncidentGroup[],
  open: readonly string[],
  rowsOf: (value: string) => readonly IncidentSummary[] | undefined,
): ListItem[] {
  return groups.flatMap((group): ListItem[] => {
    const head: ListItem = { kind: "head", group, open: open.includes(group.value) };
    if (!head.open) return [head];
    const rows = rowsOf(group.value);
    const count = group.incidents - (rows?.length ?? 0);
    return [
      head,
      ...(rows ?? []).map((incident): ListItem => ({ kind: "row", incident })),
      ...(count > 0 ? [{ kind: "rest" as const, group, loading: rows === undefined, count }] : []),
    ];
  });
}

/** The incidents among the lines, in their order. */
export function incidentsOf(items: readonly ListItem[]): IncidentSummary[] {
  return items.flatMap((item) => (item.kind === "row" ? [item.incident] : []));
}
