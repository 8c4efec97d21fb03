import { Anchor, Button, CopyButton, Group, Text } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { useState } from "react";
import type { Incident } from "@/lib/api/types";
import { Panel } from "@/lib/ui/Panel";
import { KeyNumbers } from "./KeyNumbers";
import { toTicket } from "./ticket";
import classes from "./WhatPanel.module.css";

const SENTENCES = 2;

function Copy({ label, value }: { label: string; value: string }) {
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <Button
          size="compact-xs"
          variant="default"
          leftSection={copied ? <IconCheck size={13} /> : <IconCopy size={13} />}
          onClick={copy}
          aria-live="polite"
        >
          {copied ? "Copied" : label}
        </Button>
      )}
    </CopyButton>
  );
}

/** As many sentences as are read at a glance; the rest is one click away. */
function firstSentences(text: string, count: number): string {
  return text
    .split(/(?<=[.!?])\s+(?=\S)/)
    .slice(0, count)
    .join(" ");
}

/** What happened: two sentences and three numbers, the whole text on request; to be copied alone or as a whole ticket. */
export function WhatPanel({ incident }: { incident: Incident }) {
  const [whole, setWhole] = useState(false);
  const text = incident.explanation || incident.summary;
  const first = firstSentences(text, SENTENCES);
  return (
    <Panel
      title="What happened"
      fill
      actions={
        <Group gap={6} wrap="nowrap">
          <Copy label="Copy text" value={text} />
          <Copy label="Copy as ticket" value={toTicket(incident, globalThis.location.href)} />
        </Group>
      }
    >
      <div className={classes["what"]}>
        <Text size="sm" className={classes["text"]}>
          {whole ? text : first}{" "}
          {first !== text && (
            <Anchor component="button" size="sm" mih={24} aria-expanded={whole} onClick={() => setWhole(!whole)}>
              {whole ? "Show less" : "Show all"}
            </Anchor>
          )}
        </Text>
        <KeyNumbers incident={incident} />
      </div>
    </Panel>
  );
}
