import { Button, Group, SegmentedControl, Stack, Text, Textarea, UnstyledButton } from "@mantine/core";
import { useState } from "react";
import type { Incident, TimelineEntry } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { useChangeIncident } from "../actions/useChangeIncident";
import { foldFlapping } from "./flapping";
import classes from "./Timeline.module.css";

/** Kinds of timeline entries, in groups that a reader filters by; an unknown kind is in none but "all". */
const GROUPS = ["all", "people", "symptoms", "remedies"] as const;
type Kind = (typeof GROUPS)[number];

const GROUP_OF: Readonly<Record<string, Kind>> = {
  acknowledged: "people",
  unacknowledged: "people",
  assigned: "people",
  comment: "people",
  ticket: "people",
  merged: "people",
  split: "people",
  silenced: "people",
  unsilenced: "people",
  opened: "symptoms",
  symptom: "symptoms",
  updated: "symptoms",
  cleared: "symptoms",
  reopened: "symptoms",
  resolved: "symptoms",
  inhibited: "symptoms",
  uninhibited: "symptoms",
  verdict: "symptoms",
  forecast: "symptoms",
  remedy: "remedies",
  derived: "remedies",
  lab: "remedies",
};

const MARKS: Readonly<Record<string, string>> = {
  opened: "◆",
  reopened: "◆",
  symptom: "▲",
  updated: "▲",
  cleared: "○",
  resolved: "●",
  acknowledged: "✓",
  unacknowledged: "↺",
  assigned: "→",
  comment: "”",
  ticket: "#",
  remedy: "⚒",
  derived: "≈",
  lab: "⚗",
  silenced: "∅",
  unsilenced: "◉",
  inhibited: "∅",
  uninhibited: "◉",
  merged: "⊂",
  split: "⊃",
  node: "▣",
};

function markOf(kind: string): string {
  return MARKS[kind] ?? "•";
}

/** Newest first, of one group or of all. */
function entriesOf(timeline: Incident["timeline"], group: Kind): TimelineEntry[] {
  return timeline.filter((entry) => group === "all" || GROUP_OF[entry.kind] === group).reverse();
}

function Entry({ entry }: { entry: TimelineEntry }) {
  const { time } = useTimeFormat();
  return (
    <li className={classes["entry"]} data-kind={entry.kind}>
      <span className={classes["mark"]} aria-hidden="true">
        {markOf(entry.kind)}
      </span>
      <Text size="xs" c="dimmed">
        {time(entry.at)} · {entry.kind.replaceAll("_", " ")} · {entry.actor}
      </Text>
      <Text size="sm" className={classes["text"]}>
        {entry.text}
      </Text>
    </li>
  );
}

/** Symptoms that came and went, as one line that opens. */
function Flapping({ entries, text }: { entries: readonly TimelineEntry[]; text: string }) {
  const { time } = useTimeFormat();
  const [open, setOpen] = useState(false);
  return (
    <>
      <li className={classes["entry"]} data-kind="flapping">
        <span className={classes["mark"]} aria-hidden="true">
          ≋
        </span>
        <Text size="xs" c="dimmed">
          {time(entries.at(-1)?.at)} to {time(entries[0]?.at)}
        </Text>
        <UnstyledButton fz="sm" aria-expanded={open} className={classes["fold"]} onClick={() => setOpen(!open)}>
          <b>Flapping</b>: {text}
        </UnstyledButton>
      </li>
      {open && entries.map((entry, i) => <Entry key={`${entry.at}${i}`} entry={entry} />)}
    </>
  );
}

/** Everything that happened, newest first, and the place to add to it. Control or Command with Enter sends a comment. */
export function Timeline({ incident }: { incident: Incident }) {
  const change = useChangeIncident(incident);
  const [text, setText] = useState("");
  const [group, setGroup] = useState<Kind>("all");
  const entries = entriesOf(incident.timeline, group);
  const send = () => {
    if (text.trim()) change.mutate({ kind: "comment", text: text.trim() }, { onSuccess: () => setText("") });
  };
  return (
    <Stack gap={10}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <Group gap={8} align="flex-end" wrap="nowrap">
          <Textarea
            data-comment
            aria-label="Comment"
            placeholder="What did you see or do?  ( c )"
            autosize
            minRows={1}
            maxRows={6}
            style={{ flex: 1 }}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
              if (event.key === "Escape") event.currentTarget.blur();
            }}
          />
          <Button type="submit" variant="default" loading={change.isPending} disabled={!text.trim()}>
            Comment
          </Button>
        </Group>
      </form>
      {change.isError && <ProblemNotice error={change.error} />}
      <SegmentedControl
        aria-label="Timeline filter"
        style={{ alignSelf: "flex-start" }}
        value={group}
        onChange={(value) => setGroup(value as Kind)}
        data={GROUPS.map((name) => ({ value: name, label: name.charAt(0).toUpperCase() + name.slice(1) }))}
      />
      {entries.length === 0 && <EmptyState title="No entries of this kind" />}
      <ol className={classes["list"]} aria-label="Timeline, newest first" tabIndex={0}>
        {foldFlapping(entries).map((line, i) =>
          line.folded ? (
            <Flapping key={`${line.entries[0]?.at ?? ""}${i}`} entries={line.entries} text={line.text} />
          ) : (
            <Entry key={`${line.entry.at}${i}`} entry={line.entry} />
          ),
        )}
      </ol>
    </Stack>
  );
}
