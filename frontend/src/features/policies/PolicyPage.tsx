import { Grid, Group, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Policy } from "@/lib/api/types";
import { EmptyState } from "@/lib/ui/EmptyState";
import { ListPanel } from "@/lib/ui/ListPanel";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { SymptomLink } from "@/lib/ui/SymptomBadge";
import { Meaning } from "./automaton/MeaningPanel";
import { BacktestPanel } from "./BacktestPanel";
import { DefinitionView } from "./DefinitionView";
import { DeliveryNote } from "./DeliveryNote";
import type { PolicySearch } from "./filters";
import { PolicyActions } from "./PolicyActions";
import { agentsText, coverageText, PolicyStateMark, SUBJECT_LABELS } from "./PolicyMarks";
import { useCheck, usePolicy, useViolations } from "./queries";
import { OverTimePanel } from "./states/OverTimePanel";
import { VersionsPanel } from "./VersionsPanel";
import { ViolationPanel } from "./violations/ViolationPanel";
import { ViolationTable } from "./violations/ViolationTable";

interface Props {
  id: string;
  search: PolicySearch;
  onSearch: (search: PolicySearch) => void;
}

function Header({ policy }: { policy: Policy }) {
  return (
    <header>
      <Group justify="space-between" align="flex-start" wrap="nowrap">
        <div>
          <Group gap={10}>
            <Title order={1}>{policy.title}</Title>
            <PolicyStateMark policy={policy} />
            {policy.symptoms.map((symptom) => (
              <SymptomLink key={symptom} symptom={symptom} />
            ))}
          </Group>
          <Text size="sm" c="dimmed" mt={2} data-running={policy.agents_running}>
            {[
              policy.id,
              policy.own ? "custom" : "built-in",
              `per ${SUBJECT_LABELS[policy.subject]}`,
              policy.severity,
              policy.own && policy.running !== null && `version ${policy.running}`,
              policy.lifecycle === "enabled" && `runs on ${agentsText(policy)}`.replace("runs on runs", "runs"),
              coverageText(policy),
            ]
              .filter(Boolean)
              .join(" · ")}
          </Text>
          <Text size="sm" mt={4}>
            A violation means: {policy.definition.violation}
          </Text>
        </div>
        <div>
          <PolicyActions policy={policy} />
        </div>
      </Group>
    </header>
  );
}

function Found({ policy, search, onSearch }: Omit<Props, "id"> & { policy: Policy }) {
  const check = useCheck(policy.definition);
  const violations = useViolations(policy.id);
  return (
    <Stack gap={12}>
      <Header policy={policy} />
      <OverTimePanel policy={policy} />
      <Grid gap={12}>
        <Grid.Col span={{ base: 12, lg: 6 }}>
          <Panel title="Meaning">
            <DefinitionView definition={policy.definition} />
          </Panel>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 6 }}>
          <Panel title="Automaton">
            <QueryState query={check} lines={6}>
              {(data) => <Meaning check={data} />}
            </QueryState>
          </Panel>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: search.violation ? 6 : 12 }}>
          <ListPanel
            title="Violations"
            pages={violations}
            empty={
              <EmptyState title="No violations">
                {policy.lifecycle === "enabled"
                  ? "Hosts report each violation as it happens."
                  : "A policy reports violations once it is enabled; a backtest shows what it would have reported."}
              </EmptyState>
            }
            moreLabel="Show earlier violations"
          >
            {(items) => (
              <ViolationTable
                violations={items}
                selected={search.violation}
                onSelect={(violation) => onSearch(violation === search.violation ? {} : { violation })}
              />
            )}
          </ListPanel>
        </Grid.Col>
        {search.violation && (
          <Grid.Col span={{ base: 12, lg: 6 }}>
            <ViolationPanel policy={policy} id={search.violation} onClose={() => onSearch({})} />
          </Grid.Col>
        )}
      </Grid>
      <BacktestPanel what={{ policy: policy.id }} automaton={check.data?.automaton} />
      <VersionsPanel policy={policy} />
      <Panel title="Delivery to hosts">
        <DeliveryNote />
      </Panel>
    </Stack>
  );
}

/** One policy: what it says, whether it holds, and how it came to each violation. */
export function PolicyPage({ id, search, onSearch }: Props) {
  const policy = usePolicy(id);
  if (policy.error && !policy.data) {
    return (
      <Stack gap={12}>
        <Title order={1}>{id}</Title>
        <ProblemNotice error={policy.error} onRetry={() => void policy.refetch()} />
        <Text size="sm">
          <Link to="/policies">See all policies</Link>
        </Text>
      </Stack>
    );
  }
  return (
    <QueryState query={policy} lines={12}>
      {(data) => <Found policy={data} search={search} onSearch={onSearch} />}
    </QueryState>
  );
}
