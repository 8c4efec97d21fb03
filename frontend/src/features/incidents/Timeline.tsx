import { Button, Group, SegmentedControl, Stack, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import type { Incident } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { entriesOf, GROUPS, markOf, type Group as Kind } from "./timelineKinds";
import classes from "./Timeline.module.css";
import { useChangeIncident } from "./useChangeIncident";

/** Everything that happened, newest first, and the place to add to it. Control or Command with Enter sends a comment. */
export function Timeline({ incident }: { incident: Incident }) {
  const { time } = useTimeFormat();
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
      <SegmentedControl aria-label="What the timeline shows" style={{ alignSelf: "flex-start" }} value={group} onChange={(value) => setGroup(value as Kind)} data={GROUPS.map((name) => ({ value: name, label: name.charAt(0).toUpperCase() + name.slice(1) }))} />
      {entries.length === 0 && <EmptyState title="Nothing of this kind yet" />}
      <ol className={classes["list"]} aria-label="Timeline, newest first" tabIndex={0}>
        {entries.map((entry, i) => (
          <li key={`${entry.at}${i}`} className={classes["entry"]} data-kind={entry.kind}>
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
        ))}
      </ol>
    </Stack>
  );
}
