import { List, Stack, Table, Text } from "@mantine/core";
import type { SymptomDefinition, SymptomInfo } from "@/lib/api/types";
import { useNames } from "@/lib/api/useCatalogue";
import { formatDuration } from "@/lib/time/format";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { ActionName } from "@/shared/remedies/ActionName";
import { boundText, ROLES, templateText } from "./bounds";

/** Signals with their windows and thresholds; between the two thresholds lies the hysteresis. */
function ConditionTable({ conditions }: { conditions: SymptomDefinition["conditions"] }) {
  return (
    <HeadedTable label="Conditions" titles={["Signal", "Role", "Window", "Raised when", "Clears when", "Why"]}>
      {conditions.map((condition, i) => (
        <Table.Tr key={`${condition.signal}${i}`}>
          <Table.Td>
            {condition.label}
            {condition.alternative && (
              <Text size="xs" c="dimmed">
                one of “{condition.alternative.replaceAll("_", " ")}” is enough
              </Text>
            )}
          </Table.Td>
          <Table.Td>
            <b>{condition.role}</b>
            <Text size="xs" c="dimmed">
              {ROLES[condition.role] ?? ""}
            </Text>
          </Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>
            {condition.statistic} of {formatDuration(condition.window_s * 1000)}
          </Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>{boundText(condition.raise, condition.unit)}</Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>{boundText(condition.clear, condition.unit)}</Table.Td>
          <Table.Td>{condition.text}</Table.Td>
        </Table.Tr>
      ))}
    </HeadedTable>
  );
}

function Rules({ symptom }: { symptom: SymptomInfo }) {
  const names = useNames();
  const definition = symptom.definition;
  if (!definition) return null;
  const critical = definition.critical_when.map(
    (each) => `${each.label.toLowerCase()} is ${boundText(each, each.unit)}`,
  );
  const not = Object.entries(definition.not_with);
  return (
    <List size="sm" m="10px 12px" spacing={4}>
      <List.Item>
        Raised once the conditions have held for <b>{formatDuration(definition.raise_for_s * 1000)}</b>, and cleared
        once a required one has not held for <b>{formatDuration(definition.clear_for_s * 1000)}</b>. Missing data
        neither raises nor clears it.
      </List.Item>
      <List.Item>
        Severity <b>{definition.severity}</b>
        {critical.length > 0 ? `, critical when ${critical.join(" or ")}` : ""}. Impact:{" "}
        {definition.blast_radius === "rnic"
          ? "the RNIC"
          : definition.blast_radius === "host"
            ? "the host"
            : "some flows"}
        .
      </List.Item>
      {not.length > 0 && (
        <List.Item>
          Not raised during or shortly after{" "}
          {not
            .map(([other, seconds]) => `${other} (${names.symptom(other)}; ${formatDuration(seconds * 1000)})`)
            .join(", ")}{" "}
          explains it.
        </List.Item>
      )}
      <List.Item>
        Summary: <i>{templateText(definition.summary, definition.conditions)}</i>
      </List.Item>
      <List.Item>Rule {definition.rule}</List.Item>
    </List>
  );
}

/** The rule by which it is found, exactly as the classifier reads it. */
export function DefinitionPanel({ symptom }: { symptom: SymptomInfo }) {
  return (
    <Panel title="How it is detected" flush>
      {symptom.definition ? (
        <>
          <ConditionTable conditions={symptom.definition.conditions} />
          <Rules symptom={symptom} />
        </>
      ) : (
        <EmptyState title={symptom.behaviour ? "Visible in captures only" : "Not detected by thresholds"}>
          {symptom.looks_like ?? "The catalogue has no definition."}
        </EmptyState>
      )}
    </Panel>
  );
}

/** What looks like it and is not, and what is done about it. */
export function NearMisses({ symptom }: { symptom: SymptomInfo }) {
  if (symptom.near_misses.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        None documented yet.
      </Text>
    );
  }
  return (
    <List size="sm" spacing={4}>
      {symptom.near_misses.map((each) => (
        <List.Item key={each}>{each}</List.Item>
      ))}
    </List>
  );
}

export function SymptomRemedies({ symptom }: { symptom: SymptomInfo }) {
  const remedies = symptom.definition?.remedies ?? [];
  if (remedies.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No remedies.
      </Text>
    );
  }
  return (
    <Stack gap={8}>
      {remedies.map((remedy) => (
        <div key={remedy.action}>
          <Text size="sm" fw={600}>
            <ActionName action={remedy.action} />
          </Text>
          <Text size="sm">{remedy.why}</Text>
        </div>
      ))}
    </Stack>
  );
}
