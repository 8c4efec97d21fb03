import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { api, unwrap } from "@/lib/api/client";
import type { NewRollout } from "@/lib/api/types";
import { usePages } from "@/lib/api/usePages";
import { useStates } from "@/lib/api/useStates";
import { newKey } from "@/lib/orderKey";
import { isOver } from "@/lib/states";

const EVERY_MS = 3_000;
const ENDED_EVERY_MS = 30_000;
const AGENTS_EVERY_MS = 30_000;
const AGENTS_PAGE = 500;
const ROLLOUTS_PAGE = 10;
const KEY = ["remedies", "rollouts"];

/** Each host with an agent, and whether that is connected. */
export function useAgentHosts() {
  return useQuery({
    queryKey: ["agents", "hosts"],
    queryFn: async () => {
      const hosts = new Map<string, boolean>();
      let cursor: string | null = null;
      do {
        const page: { items: { host: string; connected: boolean }[]; next_cursor?: string | null } = await unwrap(
          api.GET("/api/v1/agents", { params: { query: { limit: AGENTS_PAGE, cursor } } }),
        );
        for (const agent of page.items) hosts.set(agent.host, agent.connected);
        cursor = page.next_cursor ?? null;
      } while (cursor !== null);
      return hosts;
    },
    refetchInterval: AGENTS_EVERY_MS,
  });
}

/** The same request sent again after a lost answer keeps its key, so that it does not run on the hosts twice. */
export function useCreateRollout() {
  const client = useQueryClient();
  const pending = useRef<{ of: string; key: string } | null>(null);
  return useMutation({
    mutationFn: (body: NewRollout) => {
      const of = JSON.stringify(body);
      if (pending.current?.of !== of) pending.current = { of, key: newKey() };
      return unwrap(
        api.POST("/api/v1/rollouts", { body, params: { header: { "Idempotency-Key": pending.current.key } } }),
      );
    },
    onSuccess: (rollout) => {
      pending.current = null;
      client.setQueryData(["remedies", "rollout", rollout.id], rollout);
      void client.invalidateQueries({ queryKey: KEY });
    },
  });
}

export function useRollout(id: string) {
  const states = useStates("rollout");
  return useQuery({
    queryKey: ["remedies", "rollout", id],
    queryFn: () => unwrap(api.GET("/api/v1/rollouts/{rollout_id}", { params: { path: { rollout_id: id } } })),
    refetchInterval: (query) =>
      query.state.data && isOver(states, query.state.data.state) ? ENDED_EVERY_MS : EVERY_MS,
  });
}

/** Rollouts, newest first. */
export function useRollouts() {
  return usePages(
    KEY,
    (cursor) => unwrap(api.GET("/api/v1/rollouts", { params: { query: { limit: ROLLOUTS_PAGE, cursor } } })),
    EVERY_MS,
  );
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
      return unwrap(
        api.POST("/api/v1/rollouts/{rollout_id}/stop", { params, body: { reason: change.reason, undo: change.undo } }),
      );
    case "undo":
      return unwrap(
        api.POST("/api/v1/rollouts/{rollout_id}/undo", {
          params,
          body: { reason: change.reason, despite_failures: change.despiteFailures },
        }),
      );
  }
}

export function useChangeRollout() {
  const client = useQueryClient();
  return useMutation({ mutationFn: send, onSuccess: () => void client.invalidateQueries({ queryKey: ["remedies"] }) });
}
