import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { isEnded } from "@/features/remedies/rollout";
import { api, unwrap } from "@/lib/api/client";
import type { NewRollout } from "@/lib/api/types";
import { newKey } from "@/lib/orderKey";

const EVERY_MS = 3_000;
const ENDED_EVERY_MS = 30_000;
const AGENTS_EVERY_MS = 30_000;
const PAGE = 500;

/** Each host with an agent, and whether that is connected. */
export function useAgentHosts() {
  return useQuery({
    queryKey: ["agents", "hosts"],
    queryFn: async () => {
      const hosts = new Map<string, boolean>();
      let cursor: string | null = null;
      do {
        const page: { items: { host: string; connected: boolean }[]; next_cursor?: string | null } = await unwrap(api.GET("/api/v1/agents", { params: { query: { limit: PAGE, cursor } } }));
        for (const agent of page.items) hosts.set(agent.host, agent.connected);
        cursor = page.next_cursor ?? null;
      } while (cursor !== null);
      return hosts;
    },
    refetchInterval: AGENTS_EVERY_MS,
  });
}

/** The same order sent again after a lost answer keeps its key, so that it does not go over the hosts twice. */
export function useCreateRollout() {
  const client = useQueryClient();
  const pending = useRef<{ of: string; key: string } | null>(null);
  return useMutation({
    mutationFn: (body: NewRollout) => {
      const of = JSON.stringify(body);
      if (pending.current?.of !== of) pending.current = { of, key: newKey() };
      return unwrap(api.POST("/api/v1/rollouts", { body, params: { header: { "Idempotency-Key": pending.current.key } } }));
    },
    onSuccess: (rollout) => {
      pending.current = null;
      client.setQueryData(["remedies", "rollout", rollout.id], rollout);
      void client.invalidateQueries({ queryKey: ["remedies", "rollouts"] });
    },
  });
}

export function useRollout(id: string) {
  return useQuery({
    queryKey: ["remedies", "rollout", id],
    queryFn: () => unwrap(api.GET("/api/v1/rollouts/{rollout_id}", { params: { path: { rollout_id: id } } })),
    refetchInterval: (query) => (query.state.data && isEnded(query.state.data.state) ? ENDED_EVERY_MS : EVERY_MS),
  });
}
