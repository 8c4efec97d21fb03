import { notifications } from "@mantine/notifications";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import { asProblem } from "@/lib/api/problem";
import type { BulkRequest, IncidentSummary } from "@/lib/api/types";
import { newKey } from "@/lib/orderKey";
import { useUndoNotice } from "@/lib/ui/useUndoNotice";
import { type BulkAction, outcomeText, undoOf } from "./bulk";

export interface BulkOrder {
  action: BulkAction;
  /** By id, or all that a filter finds. */
  target: { ids: string[] } | { filter: BulkRequest["filter"] };
  /** Rows that are known of the target: what undo is made of. */
  rows: readonly IncidentSummary[];
  assignee?: string | null;
  text?: string;
}

function send(body: BulkRequest) {
  return unwrap(api.POST("/api/v1/incidents/bulk", { body, params: { header: { "Idempotency-Key": newKey() } } }));
}

/** One action on many incidents; its outcome is announced with the way back where there is one. */
export function useBulk() {
  const client = useQueryClient();
  const { announce, undoLast } = useUndoNotice();
  const refresh = () => void client.invalidateQueries({ queryKey: ["incidents"] });
  const bulk = useMutation({
    mutationFn: ({ action, target, assignee, text }: BulkOrder) =>
      send({
        ...target,
        action,
        ...(action === "assign" ? { assignee: assignee ?? null } : {}),
        ...(text === undefined ? {} : { text }),
      }),
    onSuccess: (result, { action, target, rows }) => {
      const undo = "ids" in target && result.changed > 0 ? undoOf(action, rows) : null;
      const takeBack = async (what: NonNullable<typeof undo>) => {
        try {
          return outcomeText(what.action, await send(what));
        } finally {
          refresh();
        }
      };
      announce(outcomeText(action, result), undo && (() => takeBack(undo)));
      refresh();
    },
    onError: (error) => {
      const problem = asProblem(error);
      notifications.show({ color: "red", title: problem.title, message: `${problem.message} (${problem.code})` });
    },
  });
  return { bulk, undoLast };
}
