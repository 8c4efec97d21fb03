import { Button, Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Remedy } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { StateMark } from "@/lib/ui/StateMark";
import { RemedyFacts } from "@/shared/remedies/order/RemedyFacts";
import { ParamsLine } from "@/shared/remedies/ParamsLine";
import { useRemedy, useUndoRemedy } from "@/shared/remedies/queries";
import classes from "./FixPanel.module.css";

interface Props {
  remedy: Remedy;
  title: string;
  onOpen: () => void;
}

/** The remedy that was applied last, live: its change, its symptom, and the signal before and after. */
export function AppliedRemedy({ remedy, title, onOpen }: Props) {
  const { data = remedy } = useRemedy(remedy.id);
  const undo = useUndoRemedy();
  const { clock } = useTimeFormat();
  return (
    <Stack gap={8} className={classes["applied"]} role="group" aria-label="Applied remedy" data-applied>
      <Group gap={8}>
        <StateMark machine="remedy" state={data.state} />
        <Text size="sm" fw={600}>
          {title}
        </Text>
        <ParamsLine action={data.action} params={data.params} />
      </Group>
      <Text size="xs" c="dimmed">
        {clock(data.created_at)} · {data.requested_by}
        {data.rollout_id !== null && (
          <>
            {" · "}
            <Link to="/rollouts/$id" params={{ id: data.rollout_id }}>
              rollout
            </Link>
          </>
        )}
      </Text>
      <RemedyFacts remedy={data} />
      {undo.isError && <ProblemNotice error={undo.error} />}
      <Group gap={8}>
        <Button size="compact-sm" variant="default" onClick={onOpen}>
          Open
        </Button>
        {data.undoable && (
          <Button size="compact-sm" variant="default" loading={undo.isPending} onClick={() => undo.mutate(data.id)}>
            Undo
          </Button>
        )}
      </Group>
    </Stack>
  );
}
