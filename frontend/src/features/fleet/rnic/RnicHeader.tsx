import { Badge, Button, Group, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconTool } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { Rnic } from "@/lib/api/types";
import { formatHeadroom, formatValue } from "@/lib/format";
import { bandColor, bandOf } from "@/lib/headroom";
import { formatAgo } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { StatusMark } from "@/lib/ui/StatusMark";
import { RnicRemedyDialog } from "./RnicRemedyDialog";

function Fact({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed" component="dt">
        {label}
      </Text>
      <Text size="sm" component="dd" m={0}>
        {children}
      </Text>
    </div>
  );
}

export function RnicHeader({ rnic }: { rnic: Rnic }) {
  const now = useNow();
  const [opened, dialog] = useDisclosure(false);
  const stale = rnic.seen_at === null || now - Date.parse(rnic.seen_at) > 1000 * rnic.stale_after_s;
  const band = bandOf(rnic.headroom);
  return (
    <header>
      <Group justify="space-between" align="flex-start">
        <Group gap="sm" align="center">
          <Title order={1}>
            {rnic.host} <span style={{ fontFamily: "var(--ww-mono)", fontWeight: 400 }}>{rnic.pci}</span>
          </Title>
          <Badge
            radius="xs"
            tt="none"
            size="md"
            style={{ background: bandColor(band), color: `var(--ww-on-band-${band})` }}
          >
            {formatHeadroom(rnic.headroom)}
          </Badge>
          {rnic.cordoned && <StatusMark tone="warn">Cordoned: takes no new VFs</StatusMark>}
          {stale && <StatusMark tone="warn">Stale</StatusMark>}
        </Group>
        <Button leftSection={<IconTool size={15} />} onClick={dialog.open}>
          Apply a remedy
        </Button>
      </Group>
      <Group component="dl" gap={28} mt={8} mb={0}>
        <Fact label="Model">{rnic.model ?? "unknown"}</Fact>
        <Fact label="Firmware">{rnic.firmware ?? "unknown"}</Fact>
        <Fact label="Driver">{rnic.driver ?? "unknown"}</Fact>
        <Fact label="Rack">{rnic.rack ?? "unknown"}</Fact>
        <Fact label="Devices">{[rnic.ibdev, rnic.netdev].filter(Boolean).join(" · ") || "unknown"}</Fact>
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
      </Group>
      {opened && <RnicRemedyDialog host={rnic.host} pci={rnic.pci} onClose={dialog.close} />}
    </header>
  );
}
