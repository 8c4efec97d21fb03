import { Alert, Button, Group, Table, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { SloPreview } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { envelopeText, tenantText } from "../text";
import { VfLink } from "../VfLink";
import type { usePreview } from "./queries";
import { classCounts, isChanged, refusedText } from "./previewText";

const PAGE = 15;

/** Links whose guarantees exceed what they have: with one of these, nothing can be saved. */
function Refusals({ refused }: Pick<SloPreview, "refused">) {
  if (refused.length === 0) return null;
  return (
    <Alert
      role="alert"
      icon={<IconAlertTriangle size={18} />}
      title="These rules guarantee more than a link has"
      m={12}
      styles={{
        root: { background: "var(--ww-raised)", border: "1px solid var(--ww-bad)" },
        title: { color: "var(--ww-bad)" },
        icon: { color: "var(--ww-bad)" },
        message: { color: "var(--ww-text)" },
      }}
    >
      {refused.slice(0, 5).map((each) => (
        <Text size="sm" key={`${each.host}|${each.pci}`}>
          {refusedText(each)}{" "}
          <Link to="/tenants/rnics/$host/$pci" params={{ host: each.host, pci: each.pci }}>
            See its VFs
          </Link>
        </Text>
      ))}
      {refused.length > 5 && <Text size="sm">And {plural(refused.length - 5, "more RNIC")}.</Text>}
      <Text size="sm" c="dimmed" mt={4}>
        Lower a guaranteed rate, or narrow the rule, then save.
      </Text>
    </Alert>
  );
}

function VfTable({ preview, draft }: { preview: SloPreview; draft: boolean }) {
  const [shown, setShown] = useState(PAGE);
  const { vfs } = preview;
  return (
    <>
      <HeadedTable
        label="VFs and their SLO"
        titles={["VF", "RNIC", "Tenant", ...(draft ? ["Would get", "Has now"] : ["Has"])]}
      >
        {vfs.slice(0, shown).map((vf) => (
          <Table.Tr key={`${vf.host}|${vf.pci}|${vf.vf}`} data-changed={isChanged(vf)}>
            <Table.Td>
              <VfLink {...vf} />
            </Table.Td>
            <Table.Td style={{ whiteSpace: "nowrap" }}>
              {vf.host} {vf.pci}
            </Table.Td>
            <Table.Td>{tenantText(vf.tenant)}</Table.Td>
            <Table.Td style={{ whiteSpace: "nowrap" }}>
              {vf.slo === null ? (
                "no SLO"
              ) : (
                <>
                  <b>{vf.slo.name ?? "CNI configuration"}</b>{" "}
                  <Text span size="xs" c="dimmed">
                    {envelopeText(vf.slo.min_mbps, vf.slo.max_mbps)}
                  </Text>
                </>
              )}
            </Table.Td>
            {draft && (
              <Table.Td>
                {isChanged(vf) ? (
                  (vf.before ?? "no SLO")
                ) : (
                  <Text span size="sm" c="dimmed">
                    the same
                  </Text>
                )}
              </Table.Td>
            )}
          </Table.Tr>
        ))}
      </HeadedTable>
      {vfs.length > shown && (
        <Group justify="center" p={8}>
          <Button variant="default" onClick={() => setShown(shown + 10 * PAGE)}>
            Show more VFs
          </Button>
        </Group>
      )}
    </>
  );
}

function Summary({ preview, draft }: { preview: SloPreview; draft: boolean }) {
  const counts = classCounts(preview);
  const part =
    preview.vfs.length < preview.vfs_total ? ` (of the first ${preview.vfs.length.toLocaleString("en")})` : "";
  return (
    <Text size="xs" c="dimmed">
      {draft
        ? `${plural(preview.changed, "VF")} of ${preview.vfs_total.toLocaleString("en")} would change`
        : plural(preview.vfs_total, "VF")}
      {` · ${preview.matched.toLocaleString("en")} with an SLO`}
      {counts.length > 0 &&
        ` · ${counts.map(([name, count]) => `${name} ${count.toLocaleString("en")}`).join(", ")}${part}`}
    </Text>
  );
}

/** Which VF gets which promise, as the rules stand or as they would be. */
export function PreviewPanel({ preview, draft }: { preview: ReturnType<typeof usePreview>; draft: boolean }) {
  const any = (preview.data?.vfs.length ?? 0) > 0;
  return (
    <Panel
      title={draft ? "Preview" : "Assigned now"}
      flush={any && !preview.error}
      aside={preview.data && <Summary preview={preview.data} draft={draft} />}
    >
      <QueryState
        query={preview}
        lines={4}
        isEmpty={(data) => data.vfs.length === 0 && data.refused.length === 0}
        empty={
          <EmptyState title="No VF is held by a pod">
            VFs appear here as soon as the CNI plugin wallwatch-cni reports a pod that holds one.
          </EmptyState>
        }
      >
        {(data) => (
          <>
            <Refusals refused={data.refused} />
            <VfTable preview={data} draft={draft} />
          </>
        )}
      </QueryState>
    </Panel>
  );
}
