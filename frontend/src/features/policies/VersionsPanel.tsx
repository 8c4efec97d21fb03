import { Code, Table, Text } from "@mantine/core";
import type { Policy } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { ConfirmButton } from "@/lib/ui/ConfirmButton";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { enableQuestion } from "./PolicyActions";
import { useChangePolicy } from "./queries";

const ACTIONS: Readonly<Record<string, string>> = {
  create: "created it",
  edit: "changed the draft",
  enable: "enabled it",
  disable: "disabled it",
  delete_draft: "deleted the draft",
};

/** Every version with who runs it, and the way back to an earlier one. */
export function VersionsPanel({ policy }: { policy: Policy }) {
  const { time } = useTimeFormat();
  const change = useChangePolicy();
  return (
    <Panel title="Versions" flush>
      {change.isError && <ProblemNotice error={change.error} />}
      {policy.versions.length === 0 ? (
        <EmptyState title="A built-in policy">
          It changes only with Wallwatch releases. Copy it to create your own.
        </EmptyState>
      ) : (
        <HeadedTable label="Versions" titles={["Version", "Formula", "Saved", "Enabled", "Agents", "Reason", ""]}>
          {policy.versions.map((version) => {
            const running = policy.lifecycle === "enabled" && version.number === policy.running;
            return (
              <Table.Tr key={version.number} data-version={version.number}>
                <Table.Td style={{ whiteSpace: "nowrap" }}>
                  {version.number} {running ? "(runs)" : version.enabled_at ? "" : "(draft)"}
                </Table.Td>
                <Table.Td style={{ overflowWrap: "anywhere" }}>
                  <Code>{version.definition.formula}</Code>
                </Table.Td>
                <Table.Td>
                  {time(version.saved_at)}
                  <Text size="xs" c="dimmed">
                    {version.saved_by}
                  </Text>
                </Table.Td>
                <Table.Td>
                  {version.enabled_at ? time(version.enabled_at) : "never"}
                  <Text size="xs" c="dimmed">
                    {version.enabled_by}
                  </Text>
                </Table.Td>
                <Table.Td data-agents={version.agents}>{version.agents}</Table.Td>
                <Table.Td>{version.note}</Table.Td>
                <Table.Td>
                  {!running && version.enabled_at && (
                    <ConfirmButton
                      label="Enable…"
                      question={enableQuestion(policy, version.number)}
                      confirm={`Enable version ${version.number}`}
                      loading={change.isPending}
                      onConfirm={() =>
                        change.mutate({
                          kind: "enable",
                          id: policy.id,
                          number: version.number,
                          version: policy.version,
                        })
                      }
                    />
                  )}
                </Table.Td>
              </Table.Tr>
            );
          })}
        </HeadedTable>
      )}
      {policy.history.length > 0 && (
        <div style={{ padding: "8px 12px" }}>
          <Text size="xs" c="dimmed" mb={2}>
            History, newest first
          </Text>
          <ul aria-label="History" style={{ margin: 0, paddingLeft: 18, fontSize: "var(--mantine-font-size-sm)" }}>
            {policy.history.slice(0, 12).map((entry, i) => (
              <li key={i}>
                {time(entry.at)} {entry.actor} {ACTIONS[entry.action.replace("policy.", "")] ?? entry.action}
                {typeof entry.detail["version"] === "number" ? ` (version ${entry.detail["version"]})` : ""}
              </li>
            ))}
          </ul>
        </div>
      )}
    </Panel>
  );
}
