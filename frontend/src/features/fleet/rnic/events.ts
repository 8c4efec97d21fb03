import type { RnicChange } from "@/lib/api/types";
import { plural } from "@/lib/format";

export type EventKind = RnicChange["kind"];

/** Changes so close to one another in the picture that they are one mark. */
export interface EventMark {
  kind: EventKind;
  fromMs: number;
  toMs: number;
  count: number;
  text: string;
  /** The page of the last of them, where it has one. */
  page: MarkPage | null;
}

export type MarkPage = { incident: string } | { remedy: string };

function pageOf({ data }: RnicChange): MarkPage | null {
  const { incident_id: incident, remedy_id: remedy } = data ?? {};
  if (typeof incident === "string") return { incident };
  return typeof remedy === "string" ? { remedy } : null;
}

/** Of the whole range: what lies closer together than this can't be told apart in a chart. */
const CLOSE = 0.015;

const NOUNS: Readonly<Record<EventKind, string>> = {
  container: "container change",
  event: "event",
  setting: "setting",
  firmware: "firmware change",
  remedy: "remedy",
  incident: "incident",
};

/** Capital letters rather than colours: what kind of change a mark is. */
export const EVENT_MARKS: Readonly<Record<EventKind, string>> = {
  container: "C",
  event: "E",
  setting: "S",
  firmware: "F",
  remedy: "R",
  incident: "I",
};

/** The marks of a range, oldest first; kinds stay apart, because a remedy must not hide behind containers. */
export function toMarks(changes: readonly RnicChange[], fromMs: number, toMs: number): EventMark[] {
  const near = (toMs - fromMs) * CLOSE;
  const last = new Map<EventKind, EventMark>();
  const marks: EventMark[] = [];
  for (const change of changes) {
    const at = Date.parse(change.at);
    if (at < fromMs || at > toMs) continue;
    const before = last.get(change.kind);
    if (before && at - before.fromMs <= near) {
      before.toMs = at;
      before.count += 1;
      before.page = pageOf(change);
      before.text = `${plural(before.count, NOUNS[change.kind])}, the last: ${change.text}`;
      continue;
    }
    const mark: EventMark = {
      kind: change.kind,
      fromMs: at,
      toMs: at,
      count: 1,
      text: change.text,
      page: pageOf(change),
    };
    last.set(change.kind, mark);
    marks.push(mark);
  }
  return marks;
}
