import { Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { AutomationRule } from "@/lib/api/types";
import { ConfirmButton } from "@/lib/ui/ConfirmButton";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { StatusMark } from "@/lib/ui/StatusMark";
import { ActionName } from "@/shared/remedies/ActionName";
import { ParamsLine } from "@/shared/remedies/ParamsLine";
import { AutomationRuns } from "./AutomationRuns";
import { NewRuleDialog } from "./NewRuleDialog";
import { useChangeRules, useRules } from "./queries";
import { whereText, windowText } from "./ruleText";

interface RowProps {
  rule: AutomationRule;
  change: ReturnType<typeof useChangeRules>;
}

function RuleRow({ rule, change }: RowProps) {
  const [open, setOpen] = useState(false);
  const question = [
    `From now on, wherever ${whereText(rule)}, Wallwatch runs a dry run and then applies the remedy without an operator.`,
    ...(rule.needs_approval ? ["A second person still approves each remedy."] : []),
    "A remedy that is not confirmed is undone.",
  ].join(" ");
  return (
    <Stack gap={4} component="li" data-state={rule.enabled ? "on" : "off"} style={{ listStyle: "none" }}>
      <Group justify="space-between" gap={8}>
        <Group gap={10}>
          <StatusMark tone={rule.enabled ? "good" : "quiet"}>{rule.enabled ? "On" : "Off"}</StatusMark>
          <Text size="sm" fw={500}>
            {rule.name}
          </Text>
        </Group>
        <Group gap={6}>
          <Button size="compact-xs" variant="default" aria-expanded={open} onClick={() => setOpen(!open)}>
            Runs{rule.open_runs > 0 ? ` (${rule.open_runs} now)` : ""}
          </Button>
          {rule.enabled ? (
            <Button
              size="compact-xs"
              variant="default"
              loading={change.isPending}
              onClick={() => change.mutate({ kind: "disable", id: rule.id })}
            >
              Disable
            </Button>
          ) : (
            <ConfirmButton
              label="Enable"
              question={question}
              confirm="Enable"
              loading={change.isPending}
              onConfirm={() => change.mutate({ kind: "enable", id: rule.id })}
            />
          )}
          <ConfirmButton
            label="Delete"
            question="This deletes the rule and the log of its runs. Remedies that it applied stay."
            confirm="Delete"
            onConfirm={() => change.mutate({ kind: "delete", id: rule.id })}
          />
        </Group>
      </Group>
      <Text size="sm">
        Where {whereText(rule)}: <ActionName action={rule.action} />{" "}
        <ParamsLine action={rule.action} params={rule.params} />, {windowText(rule)}
        {rule.enabled && rule.enabled_by ? ` · enabled by ${rule.enabled_by}` : ` · created by ${rule.created_by}`}
      </Text>
      {open && <AutomationRuns ruleId={rule.id} name={rule.name} />}
    </Stack>
  );
}

/** Remedies that are applied without a click: which, where, and how it went. Every rule is off until an administrator switches it on. */
export function AutomationPanel() {
  const rules = useRules();
  const change = useChangeRules();
  const [adding, setAdding] = useState(false);
  return (
    <Panel
      title="Automation"
      actions={
        <Button size="compact-xs" variant="default" onClick={() => setAdding(true)}>
          Add a rule
        </Button>
      }
    >
      <QueryState query={rules} lines={1}>
        {(items) => (
          <Stack gap={10}>
            {change.isError && <ProblemNotice error={change.error} />}
            {items.length === 0 ? (
              <EmptyState title="Automation is off: every remedy needs an operator">
                A rule applies a remedy wherever a finding matches: dry run first, within all limits, and undone when
                telemetry does not confirm it.
              </EmptyState>
            ) : (
              <Stack gap={10} component="ul" p={0} m={0} aria-label="Automation rules">
                {items.map((rule) => (
                  <RuleRow key={rule.id} rule={rule} change={change} />
                ))}
              </Stack>
            )}
          </Stack>
        )}
      </QueryState>
      {adding && <NewRuleDialog onClose={() => setAdding(false)} />}
    </Panel>
  );
}
