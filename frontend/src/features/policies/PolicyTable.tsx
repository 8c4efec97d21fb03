import { Group, Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { PolicySummary } from "@/lib/api/types";
import { formatAgo } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { SymptomLink } from "@/lib/ui/SymptomBadge";
import { coverageText, PolicyStateMark, SUBJECT_LABELS } from "./PolicyMarks";
import { CountBars } from "./states/StateStrip";

function hourText(hoursAgo: number): string {
  return hoursAgo === 0 ? "in the last hour" : `${hoursAgo} to ${hoursAgo + 1} hours ago`;
}

export function PolicyTable({ policies }: { policies: readonly PolicySummary[] }) {
  const now = useNow();
  return (
    <HeadedTable
      label="Policies"
      titles={["State", "Policy", "Subject", "Formula", "Indicates", "Violations", "Last 24 hours", "Last"]}
    >
      {policies.map((policy) => (
        <Table.Tr key={policy.id} data-policy={policy.id} data-state={policy.state}>
          <Table.Td style={{ whiteSpace: "nowrap" }}>
            <PolicyStateMark policy={policy} />
            <Text size="xs" c="dimmed">
              {coverageText(policy)}
            </Text>
          </Table.Td>
          <Table.Td miw={200}>
            <Link to="/policies/$id" params={{ id: policy.id }}>
              {policy.title}
            </Link>
            <Text size="xs" c="dimmed">
              {[
                policy.id,
                policy.own && `version ${policy.running ?? "–"}`,
                policy.has_draft && policy.lifecycle !== "draft" && "has a draft",
                policy.severity === "critical" && "critical",
              ]
                .filter(Boolean)
                .join(" · ")}
            </Text>
          </Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>{SUBJECT_LABELS[policy.subject]}</Table.Td>
          <Table.Td
            miw={230}
            maw={420}
            style={{ fontFamily: "var(--ww-mono)", fontSize: "0.75rem", overflowWrap: "anywhere" }}
          >
            {policy.formula}
          </Table.Td>
          <Table.Td>
            <Group gap={4}>
              {policy.symptoms.map((symptom) => (
                <SymptomLink key={symptom} symptom={symptom} />
              ))}
            </Group>
          </Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>
            {policy.violations_24h === 0 ? "none" : `${policy.violations_1h.toLocaleString("en")} per hour`}
            {policy.violations_24h > 0 && (
              <Text size="xs" c="dimmed">
                {policy.violations_24h.toLocaleString("en")} per day
              </Text>
            )}
            {policy.inhibited_24h > 0 && (
              <Text size="xs" c="dimmed" title="Caused by Wallwatch remedies, not counted">
                {policy.inhibited_24h.toLocaleString("en")} inhibited
              </Text>
            )}
          </Table.Td>
          <Table.Td>
            <CountBars
              label={`Violations of ${policy.id} in 24 hours`}
              counts={policy.recent}
              when={(part) => hourText(policy.recent.length - 1 - part)}
            />
          </Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>
            {policy.last_violation_at ? formatAgo(policy.last_violation_at, now) : "–"}
          </Table.Td>
        </Table.Tr>
      ))}
    </HeadedTable>
  );
}
