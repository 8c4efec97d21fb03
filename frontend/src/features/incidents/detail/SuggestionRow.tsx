import { Button, Group, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Incident, RemedyAction, SuggestedRemedy } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { StatusMark } from "@/lib/ui/StatusMark";
import { ParamsLine } from "@/shared/remedies/ParamsLine";
import { useActions } from "@/shared/remedies/queries";
import { useChangeIncident } from "../actions/useChangeIncident";
import { derivationText, newestText } from "./derivations";

interface Props {
  incident: Incident;
  suggestion: SuggestedRemedy;
  title: string;
  /** Undefined while the actions are looked up. */
  risk: RemedyAction["risk"] | undefined;
  /** Only what it is called and its parameters: something else is under way. */
  brief: boolean;
  /** What the operator clicks: one of them is the primary action. */
  control: ReactNode;
}

/** A suggested remedy: its parameters, how they were derived, and what deriving them again would change. */
export function SuggestionRow({ incident, suggestion, title, risk, brief, control }: Props) {
  const { clock } = useTimeFormat();
  const actions = useActions();
  const change = useChangeIncident(incident);
  const action = actions.data?.find((each) => each.action === suggestion.action);
  const newest = newestText(suggestion, action);
  return (
    <Stack gap={6} data-action={suggestion.action}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div>
          <Text size="sm" fw={600}>
            {title}
          </Text>
          <ParamsLine action={suggestion.action} params={suggestion.params} />
        </div>
        {control}
      </Group>
      {!brief && <Text size="sm">{suggestion.why}</Text>}
      {!brief && risk && (
        <StatusMark tone={risk === "low" ? "good" : risk === "medium" ? "warn" : "bad"}>{`Risk: ${risk}`}</StatusMark>
      )}
      {(brief ? [] : derivationText(suggestion, action)).map((line) => (
        <Text size="xs" c="dimmed" key={line}>
          {line}
          {suggestion.derived_at && `, derived at ${clock(suggestion.derived_at)}`}
        </Text>
      ))}
      {!brief && newest !== null && (
        <Group gap={8}>
          <Text size="xs">The newest measurements give {newest}.</Text>
          <Button
            size="compact-xs"
            variant="default"
            loading={change.isPending}
            onClick={() => change.mutate({ kind: "derive-again" })}
          >
            Derive again
          </Button>
        </Group>
      )}
      {change.isError && <ProblemNotice error={change.error} />}
    </Stack>
  );
}
