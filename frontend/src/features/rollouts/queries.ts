import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { isEnded } from "@/features/remedies/rollout";
import { api, unwrap } from "@/lib/api/client";
import type { NewRollout } from "@/lib/api/types";

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

export function useCreateRollout() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: NewRollout) => unwrap(api.POST("/api/v1/rollouts", { body })),
    onSuccess: (rollout) => {
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
