import { Table, Text, UnstyledButton } from "@mantine/core";
import type { TenantBreakage } from "@/lib/api/types";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { keptText, secondsText, tenantText } from "../text";
import { Amount } from "./Amount";
import classes from "./tables.module.css";

interface Props {
  tenants: readonly TenantBreakage[];
  onTenant: (tenant: string | null) => void;
}

/** What each tenant suffered, and what it caused to others. */
export function TenantTable({ tenants, onTenant }: Props) {
  const most = Math.max(1, ...tenants.flatMap(({ broken_s, aggressor_s }) => [broken_s, aggressor_s]));
  return (
    <HeadedTable label="By tenant" titles={["Tenant", "VFs", "Suffered", "Caused to others", "Unknown", "Kept"]}>
      {tenants.map((tenant) => (
        <Table.Tr key={tenant.tenant ?? ""} data-tenant={tenant.tenant}>
          <Table.Td>
            <UnstyledButton
              className={classes["filter"]}
              title="Show its RNICs only"
              onClick={() => onTenant(tenant.tenant)}
            >
              {tenantText(tenant.tenant)}
            </UnstyledButton>
          </Table.Td>
          <Table.Td>{tenant.vfs.toLocaleString("en")}</Table.Td>
          <Table.Td className={classes["amount"]} w="24%">
            <Amount seconds={tenant.broken_s} most={most} />
          </Table.Td>
          <Table.Td className={classes["amount"]} w="24%">
            <Amount seconds={tenant.aggressor_s} most={most} caused />
          </Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>
            {tenant.unknown_s > 0 ? (
              secondsText(tenant.unknown_s)
            ) : (
              <Text span size="sm" c="dimmed">
                none
              </Text>
            )}
          </Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>
            {tenant.kept_share === null ? (
              <Text span size="sm" c="dimmed" title="No second with a promise and evidence">
                no evidence
              </Text>
            ) : (
              keptText(tenant.kept_share)
            )}
          </Table.Td>
        </Table.Tr>
      ))}
    </HeadedTable>
  );
}
