import { Button, Group, Table, Text } from "@mantine/core";
import { useState } from "react";
import type { SloReportRow } from "@/lib/api/types";
import { formatShare, plural } from "@/lib/format";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { StatusMark } from "@/lib/ui/StatusMark";
import { keptText, secondsText, tenantText } from "../text";
import { VfLink } from "../VfLink";
import { budgetText, usedBudget } from "./reportText";
import classes from "./ReportTable.module.css";

const PAGE = 100;

function Subject({ row }: { row: SloReportRow }) {
  if (row.host === null || row.pci === null || row.vf === null)
    return (
      <>
        {tenantText(row.tenant)}
        <Text size="xs" c="dimmed">
          {plural(row.vfs, "VF")}
        </Text>
      </>
    );
  const [pod, ...others] = row.pods;
  return (
    <>
      <VfLink
        host={row.host}
        pci={row.pci}
        vf={row.vf}
        pod={pod ?? null}
        note={others.length > 0 ? `and ${plural(others.length, "other pod")}` : undefined}
      />
      <Text size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
        {row.host} {row.pci}
      </Text>
      {row.owners.length > 0 && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          {row.owners.join(", ")}
        </Text>
      )}
    </>
  );
}

function Budget({ row }: { row: SloReportRow }) {
  const used = usedBudget(row);
  return (
    <div className={classes["budget"]}>
      <Text size="sm" c={used === null ? "dimmed" : undefined}>
        {budgetText(row)}
      </Text>
      {used !== null && (
        <div
          className={classes["track"]}
          role="img"
          aria-label={`${formatShare(Math.min(used, 99))} of the error budget used`}
        >
          <div
            className={classes["used"]}
            data-missed={used > 1 || undefined}
            style={{ width: `${Math.min(100, used * 100)}%` }}
          />
        </div>
      )}
    </div>
  );
}

function Met({ met }: { met: boolean | null }) {
  if (met === null) return <StatusMark tone="waiting">no evidence</StatusMark>;
  return met ? <StatusMark tone="good">met</StatusMark> : <StatusMark tone="bad">missed</StatusMark>;
}

function Amount({ seconds }: { seconds: number }) {
  return seconds > 0 ? (
    <>{secondsText(seconds)}</>
  ) : (
    <Text span size="sm" c="dimmed">
      none
    </Text>
  );
}

/** Rows with the least budget left first, as the API orders them. */
export function ReportTable({ rows, by }: { rows: readonly SloReportRow[]; by: "vf" | "tenant" }) {
  const [shown, setShown] = useState(PAGE);
  return (
    <>
      <HeadedTable
        label="SLO report"
        titles={[
          by === "vf" ? "VF" : "Tenant",
          ...(by === "vf" ? ["Tenant"] : []),
          "Objective",
          "Seconds kept",
          "Broken",
          "Error budget",
          "Unknown",
          "Caused to others",
        ]}
      >
        {rows.slice(0, shown).map((row) => (
          <Table.Tr key={`${row.host ?? ""}|${row.pci ?? ""}|${row.vf ?? ""}|${row.tenant ?? ""}`} data-met={row.met}>
            <Table.Td>
              <Subject row={row} />
            </Table.Td>
            {by === "vf" && <Table.Td>{tenantText(row.tenant)}</Table.Td>}
            <Table.Td>
              <Met met={row.met} />
            </Table.Td>
            <Table.Td style={{ whiteSpace: "nowrap" }}>{keptText(row.kept_share)}</Table.Td>
            <Table.Td style={{ whiteSpace: "nowrap" }}>
              <Amount seconds={row.broken_s} />
            </Table.Td>
            <Table.Td>
              <Budget row={row} />
            </Table.Td>
            <Table.Td style={{ whiteSpace: "nowrap" }}>
              <Amount seconds={row.unknown_s} />
            </Table.Td>
            <Table.Td style={{ whiteSpace: "nowrap" }}>
              <Amount seconds={row.aggressor_s} />
            </Table.Td>
          </Table.Tr>
        ))}
      </HeadedTable>
      {rows.length > shown && (
        <Group justify="center" p={8}>
          <Button variant="default" onClick={() => setShown(shown + PAGE)}>
            Show {Math.min(PAGE, rows.length - shown)} more
          </Button>
        </Group>
      )}
    </>
  );
}
