import { Button, Group, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { VfHistory } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { useMayChange } from "@/shared/session";
import { LimitDialog } from "../rnic/LimitDialog";
import { promiseName, promiseText, rateText, secondsText, tenantText, vfName } from "../text";
import { VfStateMark } from "../VfStateMark";

function sourceText({ slo }: Pick<VfHistory, "slo">): string {
  if (!slo) return "";
  if (slo.source === "cni") return "set in the CNI configuration";
  return slo.rule === null ? "assigned by a rule" : `assigned by rule ${slo.rule + 1}`;
}

/** Which VF it is, who holds it, what it was promised and whether it gets that. */
export function VfHeader({ vf }: { vf: VfHistory }) {
  const { host, pci } = vf;
  const mayChange = useMayChange();
  const [limiting, setLimiting] = useState(false);
  return (
    <header>
      <Group justify="space-between" align="flex-start" wrap="nowrap">
        <Group gap={16} align="center">
          <Title order={1}>{vf.pod === null ? vfName(vf) : `VF ${vf.vf}: ${vf.pod}`}</Title>
          <VfStateMark vf={vf} />
        </Group>
        {mayChange && (
          <Button variant={vf.role === "aggressor" ? "filled" : "default"} onClick={() => setLimiting(true)}>
            Limit its rate…
          </Button>
        )}
      </Group>
      <Text size="sm" c="dimmed" mt={2}>
        <Link to="/tenants/rnics/$host/$pci" params={{ host, pci }}>
          {host} {pci}
        </Link>
        {[
          tenantText(vf.tenant),
          vf.limit_mbps ? `limited to ${rateText(vf.limit_mbps)}` : "no rate limit",
          `broken today: ${vf.broken_s_today > 0 ? secondsText(vf.broken_s_today) : "none"}`,
          vf.aggressor_s_today > 0 && `caused to others today: ${secondsText(vf.aggressor_s_today)}`,
        ]
          .filter(Boolean)
          .map((text) => ` · ${String(text)}`)}
      </Text>
      <Text size="sm" mt={4}>
        {vf.slo ? (
          <>
            Promised: <b>{promiseName(vf.slo)}</b>, {promiseText(vf.slo)}{" "}
            <Text span size="sm" c="dimmed">
              ({sourceText(vf)})
            </Text>
          </>
        ) : (
          <>
            Nothing is promised to this VF. <Link to="/tenants/slos">Assign an SLO</Link>
          </>
        )}
      </Text>
      {limiting && <LimitDialog host={host} pci={pci} vf={vf} onClose={() => setLimiting(false)} />}
    </header>
  );
}

/** How many intervals are listed, of how many there were. */
export function listedText(
  { broken, broken_total }: Pick<VfHistory, "broken" | "broken_total">,
  episodes: number,
): string {
  if (broken_total === 0) return "";
  const all = `${plural(episodes, "time")}, ${plural(broken_total, "interval")}`;
  return broken.length < broken_total ? `the newest ${broken.length} of ${plural(broken_total, "interval")}` : all;
}
