import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";

const EVERY_MS = 10_000;
const PAGE = 500;

export function useAgents() {
  return useQuery({
    queryKey: ["agents"],
    queryFn: () => unwrap(api.GET("/api/v1/agents", { params: { query: { limit: PAGE } } })),
    refetchInterval: EVERY_MS,
  });
}

export function useCreateEnrolmentToken() {
  return useMutation({
    mutationFn: (body: { host: string | null; ttl_s: number }) => unwrap(api.POST("/api/v1/agents/enrolment-tokens", { body })),
  });
}

export function useDeleteAgent() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => unwrap(api.DELETE("/api/v1/agents/{agent_id}", { params: { path: { agent_id: id } } })),
    onSettled: () => client.invalidateQueries({ queryKey: ["agents"] }),
  });
}
