import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import { usePages } from "@/lib/api/usePages";

const EVERY_MS = 10_000;
const PAGE = 200;

export function useAgents(where: { host?: string; connected?: boolean; sort?: "certificate" }) {
  return usePages(
    ["agents", where],
    (cursor) => unwrap(api.GET("/api/v1/agents", { params: { query: { ...where, limit: PAGE, cursor } } })),
    EVERY_MS,
  );
}

export function useCreateEnrolmentToken() {
  return useMutation({
    mutationFn: (body: { host: string | null; ttl_s: number }) =>
      unwrap(api.POST("/api/v1/agents/enrolment-tokens", { body })),
  });
}

export function useDeleteAgent() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => unwrap(api.DELETE("/api/v1/agents/{agent_id}", { params: { path: { agent_id: id } } })),
    onSettled: () => client.invalidateQueries({ queryKey: ["agents"] }),
  });
}
