import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import { usePages } from "@/lib/api/usePages";

const EVERY_MS = 3_000;
const PAGE = 10;
const KEY = ["remedies", "rollouts"];

/** Rollouts, newest first. */
export function useRollouts() {
  return usePages(KEY, (cursor) => unwrap(api.GET("/api/v1/rollouts", { params: { query: { limit: PAGE, cursor } } })), EVERY_MS);
}

export type RolloutChange = { id: string } & (
  | { kind: "pause" | "resume" }
  | { kind: "approve"; comment: string | null }
  | { kind: "reject"; reason: string }
  | { kind: "stop"; reason: string; undo: boolean }
  | { kind: "undo"; reason: string; despiteFailures: boolean }
);

function send(change: RolloutChange) {
  const params = { path: { rollout_id: change.id } };
  switch (change.kind) {
    case "approve":
      return unwrap(api.POST("/api/v1/rollouts/{rollout_id}/approve", { params, body: { comment: change.comment } }));
    case "pause":
      return unwrap(api.POST("/api/v1/rollouts/{rollout_id}/pause", { params }));
    case "resume":
      return unwrap(api.POST("/api/v1/rollouts/{rollout_id}/resume", { params }));
    case "reject":
      return unwrap(api.POST("/api/v1/rollouts/{rollout_id}/reject", { params, body: { reason: change.reason } }));
    case "stop":
      return unwrap(api.POST("/api/v1/rollouts/{rollout_id}/stop", { params, body: { reason: change.reason, undo: change.undo } }));
    case "undo":
      return unwrap(api.POST("/api/v1/rollouts/{rollout_id}/undo", { params, body: { reason: change.reason, despite_failures: change.despiteFailures } }));
  }
}

export function useChangeRollout() {
  const client = useQueryClient();
  return useMutation({ mutationFn: send, onSuccess: () => void client.invalidateQueries({ queryKey: ["remedies"] }) });
}
