import { Anchor, Text } from "@mantine/core";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { RuleRow } from "./RuleRow";
import { useRules } from "./ruleQueries";

const TITLES = ["Rule", "Cause", "State", "Actions"] as const;

/** Rules from causes that the catalogue does not have: each waits for a review, and classify detects the accepted ones. */
export function RulesPanel() {
  const rules = useRules();
  const someAccepted = rules.data?.items.some(({ state }) => state === "accepted") ?? false;
  return (
    <Panel
      title="Candidate rules"
      flush={rules.data !== undefined}
      aside={
        someAccepted && (
          <Text size="xs" c="dimmed">
            classify detects accepted rules from its next start on ·{" "}
            <Anchor size="xs" underline="always" href="/api/v1/lab/rules/export" download>
              export as YAML
            </Anchor>
          </Text>
        )
      }
    >
      <QueryState
        query={rules}
        lines={2}
        isEmpty={({ items }) => items.length === 0}
        empty={
          <EmptyState title="No candidate rules">
            A cause that the catalogue does not have can be proposed as a rule on its campaign&apos;s page.
          </EmptyState>
        }
      >
        {({ items }) => (
          <HeadedTable label="Candidate rules" titles={TITLES}>
            {items.map((rule) => (
              <RuleRow key={rule.id} rule={rule} />
            ))}
          </HeadedTable>
        )}
      </QueryState>
    </Panel>
  );
}
