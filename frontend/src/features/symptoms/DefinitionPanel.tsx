import { List, Stack, Text } from "@mantine/core";
import { ActionName } from "@/features/remedies/ActionName";
import type { SymptomInfo } from "@/lib/api/types";
import { useNames } from "@/lib/api/useCatalogue";
import { formatDuration } from "@/lib/time/format";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { boundText, templateText } from "./bounds";
import { ConditionTable } from "./ConditionTable";

function Rules({ symptom }: { symptom: SymptomInfo }) {
  const names = useNames();
  const definition = symptom.definition;
  if (!definition) return null;
  const critical = definition.critical_when.map((each) => `${each.label.toLowerCase()} is ${boundText(each, each.unit)}`);
  const not = Object.entries(definition.not_with);
  return (
    <List size="sm" m="10px 12px" spacing={4}>
      <List.Item>
        Begins once the conditions have held for <b>{formatDuration(definition.raise_for_s * 1000)}</b>, and ends once a required one has not held for <b>{formatDuration(definition.clear_for_s * 1000)}</b>. What is missing neither begins nor ends it.
      </List.Item>
      <List.Item>
        Severity <b>{definition.severity}</b>
        {critical.length > 0 ? `, critical when ${critical.join(" or ")}` : ""}. Reaches: {definition.blast_radius === "rnic" ? "the RNIC" : definition.blast_radius === "host" ? "the host" : "some flows"}.
      </List.Item>
      {not.length > 0 && (
        <List.Item>Not raised while, or shortly after, {not.map(([other, seconds]) => `${other} (${names.symptom(other)}; ${formatDuration(seconds * 1000)})`).join(", ")} explains it.</List.Item>
      )}
      <List.Item>
        Says: <i>{templateText(definition.summary, definition.conditions)}</i>
      </List.Item>
      <List.Item>Rule {definition.rule}</List.Item>
    </List>
  );
}

/** The rule by which it is found, exactly as the classifier reads it. */
export function DefinitionPanel({ symptom }: { symptom: SymptomInfo }) {
  return (
    <Panel title="How it is found" flush>
      {symptom.definition ? (
        <>
          <ConditionTable conditions={symptom.definition.conditions} />
          <Rules symptom={symptom} />
        </>
      ) : (
        <EmptyState title="Found by other means than thresholds">{symptom.looks_like ?? "The catalogue has no definition of it."}</EmptyState>
      )}
    </Panel>
  );
}

/** What looks like it and is not, and what is done about it. */
export function NearMisses({ symptom }: { symptom: SymptomInfo }) {
  if (symptom.near_misses.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        None is written down yet.
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
        No remedy is offered for it.
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
