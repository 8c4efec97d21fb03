import { Button, CopyButton, Group, Text } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import type { Incident } from "@/lib/api/types";
import { Panel } from "@/lib/ui/Panel";
import { toTicket } from "./ticket";

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

/** What happened, in sentences that can be pasted: alone, or with evidence and causes as a whole ticket. */
export function ExplanationPanel({ incident }: { incident: Incident }) {
  const text = incident.explanation || incident.summary;
  return (
    <Panel
      title="What happened"
      actions={
        <Group gap={6}>
          <Copy label="Copy text" value={text} />
          <Copy label="Copy as ticket" value={toTicket(incident, globalThis.location.href)} />
        </Group>
      }
    >
      <Text size="sm" maw={820} style={{ lineHeight: 1.55 }}>
        {text}
      </Text>
    </Panel>
  );
}
