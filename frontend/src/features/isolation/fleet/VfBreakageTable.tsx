import { Table, UnstyledButton } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { VfBreakage } from "@/lib/api/types";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { PodOwner, podFacts } from "@/lib/ui/PodOwner";
import { tenantText } from "../text";
import { VfLink } from "../VfLink";
import { Amount } from "./Amount";
import classes from "./tables.module.css";

interface Props {
  role: "victim" | "aggressor";
  vfs: readonly VfBreakage[];
  onTenant: (tenant: string | null) => void;
}

const TITLES = { victim: "Suffered", aggressor: "Caused to others" } as const;

/** The victims or the aggressors of the fleet by seconds; a VF has a row for each pod that held it. */
export function VfBreakageTable({ role, vfs, onTenant }: Props) {
  const most = Math.max(1, ...vfs.map(({ seconds }) => seconds));
  const name = role === "victim" ? "Victim" : "Aggressor";
  return (
    <HeadedTable label={`By ${role}`} titles={[name, "Tenant", "RNIC", TITLES[role]]}>
      {vfs.map(({ host, pci, vf, pod, owner, labels, tenant, seconds }) => (
        <Table.Tr key={`${host}|${pci}|${vf}|${pod ?? ""}`} data-vf={`${host}|${pci}|${vf}`}>
          <Table.Td>
            <VfLink {...{ host, pci, vf, pod }} />
            {podFacts({ owner, labels }) !== null && " "}
            <PodOwner {...{ owner, labels }} />
          </Table.Td>
          <Table.Td>
            <UnstyledButton className={classes["filter"]} title="Show its RNICs only" onClick={() => onTenant(tenant)}>
              {tenantText(tenant)}
            </UnstyledButton>
          </Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>
            <Link to="/tenants/rnics/$host/$pci" params={{ host, pci }}>
              {host} <span className={classes["pci"]}>{pci}</span>
            </Link>
          </Table.Td>
          <Table.Td className={classes["amount"]} w="34%">
            <Amount seconds={seconds} most={most} caused={role === "aggressor"} />
          </Table.Td>
        </Table.Tr>
      ))}
    </HeadedTable>
  );
}
