import { Button, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { FoundCause } from "@/lib/api/types";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { useMayChange } from "@/shared/session";
import { useProposeRule, useRules } from "./ruleQueries";

/** Proposes a cause that the catalogue does not have as a rule, names the rule that it is, or says why it can be none. */
export function CauseRule({ cause, campaign }: { cause: FoundCause; campaign: string }) {
  const mayChange = useMayChange();
  const rules = useRules(campaign);
  const propose = useProposeRule(campaign);
  const rule = rules.data?.items.find((each) => each.cause === cause.id);
  if (rule !== undefined)
    return (
      <Text size="sm" role="status">
        <Link to="/lab">Rule {rule.name}</Link> is {rule.state}.
      </Text>
    );
  if (cause.rule === null)
    return cause.no_rule === null ? null : (
      <Text size="xs" c="dimmed">
        No rule: {cause.no_rule}
      </Text>
    );
  if (!mayChange) return null;
  return (
    <div>
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Propose a rule from cause ${cause.id}`}
        loading={propose.isPending}
        onClick={() => propose.mutate(cause.id)}
      >
        Propose rule
      </Button>
      {propose.error !== null && <ProblemNotice error={propose.error} />}
    </div>
  );
}
