import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { formatAgo } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { QueryState } from "@/lib/ui/QueryState";
import { ActionName } from "@/shared/remedies/ActionName";
import { RemedyFollow } from "@/shared/remedies/order/RemedyFollow";
import { ParamsLine } from "@/shared/remedies/ParamsLine";
import { useRemediesOf } from "@/shared/remedies/queries";
import { StateMark } from "@/lib/ui/StateMark";

const SHOWN = 3;

/** What was done to this RNIC or to its whole host, newest first; dry runs changed nothing and are left out. */
export function RnicRemedies({ host, pci }: { host: string; pci: string }) {
  const remedies = useRemediesOf({ host });
  const [opened, setOpened] = useState<string | null>(null);
  const now = useNow();
  return (
    <QueryState query={remedies} lines={2}>
      {({ items }) => {
        const applied = items
          .filter((remedy) => remedy.mode === "apply" && (remedy.pci === null || remedy.pci === pci))
          .slice(0, SHOWN);
        return (
          <Stack gap={6} role="group" aria-label="Remedies on this RNIC">
            <Text size="sm" fw={600}>
              Remedies
            </Text>
            {applied.length === 0 && (
              <Text size="sm" c="dimmed">
                No remedies applied to this RNIC yet.
              </Text>
            )}
            {applied.map((remedy) => (
              <Group key={remedy.id} gap={8} wrap="nowrap">
                <span style={{ minWidth: 112 }}>
                  <StateMark machine="remedy" state={remedy.state} />
                </span>
                <Text size="sm" truncate style={{ flex: 1 }}>
                  <ActionName action={remedy.action} /> <ParamsLine action={remedy.action} params={remedy.params} />
                </Text>
                <Text size="sm" c="dimmed" style={{ whiteSpace: "nowrap" }}>
                  {formatAgo(remedy.created_at, now)} by {remedy.requested_by}
                </Text>
                <Button
                  size="compact-xs"
                  variant="subtle"
                  aria-label={`Open ${remedy.action} of ${formatAgo(remedy.created_at, now)}`}
                  onClick={() => setOpened(remedy.id)}
                >
                  Open
                </Button>
              </Group>
            ))}
            <Text size="sm">
              <Link to="/remedies" search={{ host }}>
                All remedies on {host}, including dry runs
              </Link>
            </Text>
            <Modal opened={opened !== null} onClose={() => setOpened(null)} size={720} title={`Remedy on ${host}`}>
              {opened !== null && <RemedyFollow id={opened} />}
            </Modal>
          </Stack>
        );
      }}
    </QueryState>
  );
}
