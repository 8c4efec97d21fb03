import { Button, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import { asProblem } from "@/lib/api/problem";
import type { BulkRequest, IncidentSummary } from "@/lib/api/types";
import { newKey } from "@/lib/orderKey";
import { outcomeText, undoOf, type BulkAction, type Undo } from "./bulk";

export interface BulkOrder {
  action: BulkAction;
  /** By id, or all that a filter finds. */
  target: { ids: string[] } | { filter: BulkRequest["filter"] };
  /** Rows that are known of the target: what undo is made of. */
  rows: readonly IncidentSummary[];
  assignee?: string | null;
  text?: string;
}

const UNDO_SHOWN_MS = 12_000;

function send(body: BulkRequest) {
  return unwrap(api.POST("/api/v1/incidents/bulk", { body, params: { header: { "Idempotency-Key": newKey() } } }));
}

/** One action on many incidents; its outcome is announced with the way back where there is one. */
export function useBulk() {
  const client = useQueryClient();
  const refresh = () => void client.invalidateQueries({ queryKey: ["incidents"] });
  const takeBack = async (undo: Undo, id: string) => {
    notifications.hide(id);
    try {
      const result = await send(undo);
      notifications.show({ message: `Taken back: ${outcomeText(undo.action, result)}` });
    } catch (error) {
      notifications.show({ color: "red", title: "Could not be taken back", message: asProblem(error).message });
    }
    refresh();
  };
  return useMutation({
    mutationFn: ({ action, target, assignee, text }: BulkOrder) => send({ ...target, action, ...(action === "assign" ? { assignee: assignee ?? null } : {}), ...(text === undefined ? {} : { text }) }),
    onSuccess: (result, { action, target, rows }) => {
      const undo = "ids" in target ? undoOf(action, rows) : null;
      const id = `bulk-${newKey()}`;
      notifications.show({
        id,
        autoClose: UNDO_SHOWN_MS,
        message: (
          <Group justify="space-between" wrap="nowrap" role="status">
            <Text size="sm">{outcomeText(action, result)}</Text>
            {undo && result.changed > 0 && (
              <Button size="compact-xs" variant="default" onClick={() => void takeBack(undo, id)}>
                Undo
              </Button>
            )}
          </Group>
        ),
      });
      refresh();
    },
    onError: (error) => {
      const problem = asProblem(error);
      notifications.show({ color: "red", title: problem.title, message: `${problem.message} (${problem.code})` });
    },
  });
}
