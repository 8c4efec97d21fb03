import { Button, Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useStates } from "@/lib/api/useStates";
import { sentenceOf } from "@/lib/states";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { ActionName } from "../ActionName";
import { ParamsLine } from "../ParamsLine";
import { useRemedy, useUndoRemedy } from "../queries";
import { RemedyPlace } from "../RemedyPlace";
import { Decision } from "./Decision";
import { InhibitedFindings } from "./InhibitedFindings";
import { RemedyProgress } from "./RemedyProgress";

/** A remedy from its request to its two facts; from here it can be undone. */
export function RemedyFollow({ id, onAgain }: { id: string; onAgain?: () => void }) {
  const remedy = useRemedy(id);
  const undo = useUndoRemedy();
  const commands = useStates("command");
  const { time } = useTimeFormat();
  return (
    <QueryState query={remedy} lines={5}>
      {(data) => (
        <Stack gap={12}>
          <Text size="sm">
            <b>
              <ActionName action={data.action} />
            </b>{" "}
            <ParamsLine action={data.action} params={data.params} />
          </Text>
          <Text size="sm" c="dimmed">
            {data.mode === "dry_run" ? "Dry run on" : "On"} <RemedyPlace remedy={data} />, requested by{" "}
            {data.requested_by}, {time(data.created_at)}
            {data.incident_id !== null && (
              <>
                , for{" "}
                <Link to="/incidents/$id" params={{ id: data.incident_id }}>
                  an incident
                </Link>
              </>
            )}
            {data.rollout_id !== null && (
              <>
                , part of{" "}
                <Link to="/rollouts/$id" params={{ id: data.rollout_id }}>
                  a rollout
                </Link>
              </>
            )}
            .
          </Text>
          <RemedyProgress remedy={data} />
          <InhibitedFindings remedy={data} />
          {data.undo_state && (
            <Text size="sm" role="status">
              {sentenceOf(commands, data.undo_state, "The undo")}
            </Text>
          )}
          {data.decided_by && (
            <Text size="sm">
              {data.state === "rejected" ? "Rejected" : "Approved"} by {data.decided_by}
              {data.decided_at ? `, ${time(data.decided_at)}` : ""}
              {data.decision_comment ? `: “${data.decision_comment}”` : ""}
            </Text>
          )}
          {data.state === "pending" && <Decision remedy={data} />}
          {undo.isError && <ProblemNotice error={undo.error} />}
          <Group justify="flex-end" gap={8}>
            {onAgain && (
              <Button variant="subtle" onClick={onAgain}>
                Other remedies
              </Button>
            )}
            {data.undoable && (
              <Button variant="default" loading={undo.isPending} onClick={() => undo.mutate(data.id)}>
                Undo
              </Button>
            )}
          </Group>
        </Stack>
      )}
    </QueryState>
  );
}
