import { Button } from "@mantine/core";
import { useState } from "react";
import type { SloClass } from "@/lib/api/types";
import { useKeys } from "@/lib/keys";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { useUndoNotice } from "@/lib/ui/useUndoNotice";
import { toNew } from "./classDraft";
import { ClassDialog } from "./ClassDialog";
import { ClassTable } from "./ClassTable";
import { useChangeClass, useSloClasses } from "./queries";

/** What can be promised: classes with a name, created, changed and deleted at once. */
export function ClassPanel({ mayChange }: { mayChange: boolean }) {
  const classes = useSloClasses();
  const change = useChangeClass();
  const { announce, undoLast } = useUndoNotice();
  const [dialog, setDialog] = useState<{ known: SloClass | null } | null>(null);
  useKeys({ z: undoLast });
  const remove = (known: SloClass) =>
    change.mutate(
      { kind: "delete", name: known.name, version: known.version },
      {
        onSuccess: () =>
          announce(`SLO class ${known.name} deleted.`, async () => {
            await change.mutateAsync({ kind: "create", body: toNew(known) });
            return `SLO class ${known.name} exists again.`;
          }),
      },
    );
  const any = (classes.data?.length ?? 0) > 0;
  return (
    <Panel
      title="SLO classes"
      aside={
        <span style={{ fontSize: "0.75rem", color: "var(--ww-dim)" }}>
          an envelope for each direction, and bounds of delay and loss inside it
        </span>
      }
      actions={
        mayChange && (
          <Button size="compact-sm" onClick={() => setDialog({ known: null })}>
            New class
          </Button>
        )
      }
      flush={any}
    >
      {change.error !== null && (
        <div style={{ padding: any ? 12 : 0 }}>
          <ProblemNotice error={change.error} />
        </div>
      )}
      <QueryState
        query={classes}
        lines={4}
        isEmpty={(items) => items.length === 0}
        empty={
          <EmptyState title="No SLO classes yet">
            {mayChange
              ? "Create one, such as gold: 1,000 Mbit/s guaranteed, 10,000 at most, delay p99 below 50 µs. Then assign it to tenants by a rule."
              : "An operator can create one: a guaranteed and a maximum rate, with bounds of delay and loss."}
          </EmptyState>
        }
      >
        {(items) => (
          <ClassTable
            classes={items}
            mayChange={mayChange}
            onEdit={(known) => setDialog({ known })}
            onDelete={remove}
          />
        )}
      </QueryState>
      {dialog && <ClassDialog known={dialog.known} classes={classes.data ?? []} onClose={() => setDialog(null)} />}
    </Panel>
  );
}
