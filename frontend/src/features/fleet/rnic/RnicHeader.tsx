import { Button, Group, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconTool } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import type { Rnic } from "@/lib/api/types";
import { useNames } from "@/lib/api/useCatalogue";
import { formatValue } from "@/lib/format";
import { formatAgo } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { StatusMark } from "@/lib/ui/StatusMark";
import { SymptomLink } from "@/lib/ui/SymptomBadge";
import classes from "./RnicHeader.module.css";
import { NvsentinelNotes } from "./NvsentinelNotes";
import { nodeText, statusOf } from "./status";

const RnicRemedyDialog = lazy(() =>
  import("./RnicRemedyDialog").then((module) => ({ default: module.RnicRemedyDialog })),
);

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Status({ rnic, now }: { rnic: Rnic; now: number }) {
  const status = statusOf(rnic, useNames(), now);
  return (
    <Group gap={8} className={classes["status"]} style={{ borderColor: `var(--ww-${status.tone})` }} data-status>
      {rnic.symptoms
        .filter((each) => each.until === null)
        .map(({ symptom }) => (
          <SymptomLink key={symptom} symptom={symptom} />
        ))}
      <Text size="sm" fw={600}>
        {status.text}
      </Text>
      {status.incident !== null && (
        <Text size="sm">
          <Link to="/incidents/$id" params={{ id: status.incident }}>
            Open incident
          </Link>
        </Text>
      )}
      {rnic.cordoned && <StatusMark tone="warn">Cordoned: takes no new VFs</StatusMark>}
      {rnic.node?.tainted && <StatusMark tone="warn">Node tainted: takes no new pods</StatusMark>}
    </Group>
  );
}

/** What the RNIC is, how it does, and what can be done about it. `tools` is the page's time range. */
export function RnicHeader({ rnic, tools }: { rnic: Rnic; tools: ReactNode }) {
  const now = useNow();
  const [opened, dialog] = useDisclosure(false);
  return (
    <>
      <Group justify="space-between" gap="xs">
        <Title order={1}>
          {rnic.host} <span style={{ fontFamily: "var(--ww-mono)", fontWeight: 400 }}>{rnic.pci}</span>
        </Title>
        <Group gap="xs">
          {tools}
          <Button leftSection={<IconTool size={15} />} onClick={dialog.open}>
            Apply a remedy
          </Button>
        </Group>
      </Group>
      <Group justify="space-between" gap="4px 24px" mt={4}>
        <Status rnic={rnic} now={now} />
        <dl className={classes["facts"]}>
          <Fact label="Model">{rnic.model ?? "unknown"}</Fact>
          <Fact label="Firmware">{rnic.firmware ?? "unknown"}</Fact>
          <Fact label="Rack">{rnic.rack ?? "unknown"}</Fact>
          {nodeText(rnic.node) !== null && <Fact label="Node">{nodeText(rnic.node)}</Fact>}
          <Fact label="Sends / receives">
            {formatValue(rnic.tx_gbps, "Gbit/s")} / {formatValue(rnic.rx_gbps, "Gbit/s")}
          </Fact>
          <Fact label="Last sample">{formatAgo(rnic.seen_at, now)}</Fact>
          <Fact label="Agent">
            {rnic.agent_id === null ? (
              <Link to="/hosts">not enrolled</Link>
            ) : (
              <StatusMark tone={rnic.agent_connected ? "good" : "warn"}>
                {rnic.agent_connected ? "connected" : "not connected"}
              </StatusMark>
            )}
          </Fact>
        </dl>
      </Group>
      <NvsentinelNotes node={rnic.node} now={now} />
      {opened && (
        <Suspense>
          <RnicRemedyDialog host={rnic.host} pci={rnic.pci} onClose={dialog.close} />
        </Suspense>
      )}
    </>
  );
}
