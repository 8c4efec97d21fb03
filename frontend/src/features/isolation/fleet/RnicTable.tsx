import { Button, Group, Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { RnicBreakage } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { formatAgo } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { MechanismName } from "../MechanismName";
import { secondsText } from "../text";
import { VfLink } from "../VfLink";
import classes from "./tables.module.css";

/** The worst; a fleet in a storm has thousands, and the tenants below must stay in reach. */
const PAGE = 20;

function Mechanisms({ rnic }: { rnic: RnicBreakage }) {
  const [first, ...others] = rnic.mechanisms;
  if (!first) return <>–</>;
  return (
    <>
      <MechanismName mechanism={first.mechanism} />
      {others.length > 0 && (
        <Text size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
          and {plural(others.length, "other")}, {secondsText(others.reduce((sum, each) => sum + each.seconds, 0))}
        </Text>
      )}
    </>
  );
}

function Row({ rnic, most, now }: { rnic: RnicBreakage; most: number; now: number }) {
  const { time } = useTimeFormat();
  const { host, pci } = rnic;
  const aggressor = rnic.aggressors[0];
  const victim = rnic.victims[0];
  const more = (count: number) => (count > 1 ? ` and ${count - 1} more` : "");
  return (
    <Table.Tr data-rnic={`${host}|${pci}`}>
      <Table.Td style={{ whiteSpace: "nowrap" }}>
        <Link to="/tenants/rnics/$host/$pci" params={{ host, pci }}>
          {host} <span className={classes["pci"]}>{pci}</span>
        </Link>
        <Text size="xs" c="dimmed">
          {[rnic.model ?? "unknown model", rnic.rack].filter(Boolean).join(" · ")}
        </Text>
      </Table.Td>
      <Table.Td className={classes["amount"]}>
        {secondsText(rnic.broken_s)}
        <div className={classes["bar"]} style={{ width: `${(rnic.broken_s / most) * 100}%` }} />
        {rnic.estimated_s > 0 && (
          <Text size="xs" c="dimmed" title="Samples more than 1.5 s apart: the whole interval counts">
            {secondsText(rnic.estimated_s)} estimated
          </Text>
        )}
      </Table.Td>
      <Table.Td style={{ whiteSpace: "nowrap" }} title={time(rnic.last_broken_at)}>
        {formatAgo(rnic.last_broken_at, now)}
      </Table.Td>
      <Table.Td>
        <Mechanisms rnic={rnic} />
      </Table.Td>
      <Table.Td>
        {aggressor ? (
          <VfLink
            {...{ host, pci, vf: aggressor.vf, pod: aggressor.pod }}
            note={`${secondsText(aggressor.aggressor_s)}${more(rnic.aggressors.length)}`}
          />
        ) : (
          <Text span size="sm" c="dimmed">
            undetermined
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        {victim ? (
          <VfLink
            {...{ host, pci, vf: victim.vf, pod: victim.pod }}
            note={`${secondsText(victim.broken_s)}${more(rnic.victims.length)}`}
          />
        ) : (
          "–"
        )}
      </Table.Td>
    </Table.Tr>
  );
}

/** RNICs by broken seconds, worst first, as the API orders them. */
export function RnicTable({ rnics }: { rnics: readonly RnicBreakage[] }) {
  const now = useNow();
  const [shown, setShown] = useState(PAGE);
  const most = Math.max(1, ...rnics.map((rnic) => rnic.broken_s));
  return (
    <>
      <HeadedTable
        label="RNICs with broken promises"
        titles={["RNIC", "Broken seconds", "Last broken", "Mechanism", "Top aggressor", "Top victim"]}
      >
        {rnics.slice(0, shown).map((rnic) => (
          <Row key={`${rnic.host}|${rnic.pci}`} rnic={rnic} most={most} now={now} />
        ))}
      </HeadedTable>
      {rnics.length > shown && (
        <Group justify="center" p={8}>
          <Button variant="default" onClick={() => setShown(shown + PAGE)}>
            Show {Math.min(PAGE, rnics.length - shown)} more RNICs
          </Button>
        </Group>
      )}
    </>
  );
}
