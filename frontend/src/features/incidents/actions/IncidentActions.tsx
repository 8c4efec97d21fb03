import { Button, Group, Menu } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import { useState } from "react";
import type { Incident } from "@/lib/api/types";
import { useStates } from "@/lib/api/useStates";
import { useKeys } from "@/lib/keys";
import { stateOf } from "@/lib/states";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { useSession } from "@/shared/session";
import { matchersFor } from "../silences/fromIncidents";
import { SilenceDialog } from "../silences/SilenceDialog";
import { AssignDialog } from "./AssignDialog";
import { MergeDialog } from "./MergeDialog";
import { SplitDialog } from "./SplitDialog";
import { useChangeIncident } from "./useChangeIncident";
import { useUndoNotice } from "@/lib/ui/useUndoNotice";
import narrow from "@/lib/ui/narrow.module.css";

type Dialog = "assign" | "merge" | "split" | "silence";

/** What an operator does with an incident; the two that are used most have keys (`a`, `r`, and `z` to undo). */
export function IncidentActions({ incident }: { incident: Incident }) {
  const change = useChangeIncident(incident);
  const { announce, undoLast } = useUndoNotice();
  const me = useSession().data?.user.username;
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const close = () => setDialog(null);
  const { over, outcome } = stateOf(useStates("incident"), incident.state);
  const unresolved = !over;
  // Once acknowledged, an incident waits for its end.
  const acknowledgeable = unresolved && outcome !== "waiting";
  // Acknowledging an unassigned incident assigns it.
  const assignable =
    unresolved && me !== undefined && incident.assignee !== me && !(acknowledgeable && incident.assignee === null);
  const undoWith = (kind: "unacknowledge" | "reopen", done: string) => () =>
    change.mutateAsync({ kind }).then(() => done);
  const acknowledge = () => {
    if (acknowledgeable)
      change.mutate(
        { kind: "acknowledge" },
        {
          onSuccess: () =>
            announce(
              "Acknowledged",
              incident.acknowledged_by === null ? undoWith("unacknowledge", "unacknowledged") : null,
            ),
        },
      );
  };
  const resolve = () => {
    if (unresolved)
      change.mutate({ kind: "resolve" }, { onSuccess: () => announce("Resolved", undoWith("reopen", "reopened")) });
  };
  useKeys({
    a: acknowledge,
    r: resolve,
    z: undoLast,
    c: () => document.querySelector<HTMLElement>("[data-comment]")?.focus(),
  });
  return (
    <div>
      <Group gap={8} wrap="nowrap" justify="flex-end" className={narrow["wraps"]}>
        {acknowledgeable && (
          <Button
            variant={incident.remedies.length > 0 ? "default" : "filled"}
            title={incident.assignee === null ? "Acknowledges it and assigns it to you" : undefined}
            loading={change.isPending}
            onClick={acknowledge}
          >
            Acknowledge
          </Button>
        )}
        {assignable && (
          <Button
            variant="default"
            disabled={change.isPending}
            onClick={() => change.mutate({ kind: "assign", assignee: me })}
          >
            Assign to me
          </Button>
        )}
        {unresolved ? (
          <Button variant="default" loading={change.isPending} onClick={resolve}>
            Resolve
          </Button>
        ) : (
          incident.merged_into === null && (
            <Button variant="default" loading={change.isPending} onClick={() => change.mutate({ kind: "reopen" })}>
              Reopen
            </Button>
          )
        )}
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" aria-label="More actions" px={8}>
              <IconDots size={16} />
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {unresolved && incident.acknowledged_by !== null && (
              <Menu.Item onClick={() => change.mutate({ kind: "unacknowledge" })}>Unacknowledge</Menu.Item>
            )}
            <Menu.Item onClick={() => setDialog("assign")}>Assign…</Menu.Item>
            <Menu.Item onClick={() => setDialog("silence")}>Silence…</Menu.Item>
            <Menu.Item onClick={() => setDialog("merge")}>Merge others into this…</Menu.Item>
            <Menu.Item disabled={incident.findings.length < 2} onClick={() => setDialog("split")}>
              Split…
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Group>
      {change.isError && <ProblemNotice error={change.error} />}
      {dialog === "assign" && <AssignDialog incident={incident} onClose={close} />}
      {dialog === "merge" && <MergeDialog incident={incident} onClose={close} />}
      {dialog === "split" && <SplitDialog incident={incident} onClose={close} />}
      {dialog === "silence" && <SilenceDialog initial={{ matchers: matchersFor([incident]) }} onClose={close} />}
    </div>
  );
}
