import { Button, Group, Stack, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import type { Incident } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { useChangeIncident } from "./queries";
import classes from "./Timeline.module.css";

export function Timeline({ incident }: { incident: Incident }) {
  const { time } = useTimeFormat();
  const change = useChangeIncident(incident.id);
  const [text, setText] = useState("");
  const newestFirst = [...incident.timeline].reverse();
  return (
    <Stack gap={10}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim()) change.mutate({ kind: "comment", text: text.trim() }, { onSuccess: () => setText("") });
        }}
      >
        <Group gap={8} align="flex-end" wrap="nowrap">
          <Textarea aria-label="Comment" placeholder="What did you see or do?" autosize minRows={1} maxRows={6} style={{ flex: 1 }} value={text} onChange={(event) => setText(event.currentTarget.value)} />
          <Button type="submit" variant="default" loading={change.isPending} disabled={!text.trim()}>
            Comment
          </Button>
        </Group>
      </form>
      {change.isError && <ProblemNotice error={change.error} />}
      <ol className={classes["list"]} aria-label="Timeline, newest first">
        {newestFirst.map((entry, i) => (
          <li key={`${entry.at}${i}`} className={classes["entry"]}>
            <Text size="xs" c="dimmed">
              {time(entry.at)} · {entry.kind.replaceAll("_", " ")} · {entry.actor}
            </Text>
            <Text size="sm">{entry.text}</Text>
          </li>
        ))}
      </ol>
    </Stack>
  );
}
