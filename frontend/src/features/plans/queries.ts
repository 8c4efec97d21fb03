import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { api, unwrap } from "@/lib/api/client";
import type { NewPlan } from "@/lib/api/types";
import { useStates } from "@/lib/api/useStates";
import { newKey } from "@/lib/orderKey";
import { isOver } from "@/lib/states";

const EVERY_MS = 10_000;
const COMPUTING_EVERY_MS = 1_500;
const SHOWN = 10;

/** The newest plans of one RNIC. */
export function usePlansOf(where: { host: string; pci: string }) {
  const states = useStates("plan");
  return useQuery({
    queryKey: ["plans", "of", where],
    queryFn: () => unwrap(api.GET("/api/v1/plans", { params: { query: { ...where, limit: SHOWN } } })),
    refetchInterval: (query) =>
      query.state.data?.items.some((plan) => !isOver(states, plan.state)) ? COMPUTING_EVERY_MS : EVERY_MS,
  });
}

/** One plan, fetched often while it is created or applied. */
export function usePlan(id: string) {
  const states = useStates("plan");
  return useQuery({
    queryKey: ["plans", "one", id],
    queryFn: () => unwrap(api.GET("/api/v1/plans/{plan_id}", { params: { path: { plan_id: id } } })),
    refetchInterval: (query) =>
      query.state.data && (!isOver(states, query.state.data.state) || query.state.data.progress !== null)
        ? COMPUTING_EVERY_MS
        : EVERY_MS,
  });
}

/** The operations as they would be typed, one per line; fetched only on request. */
export function usePlanOperations(id: string, wanted: boolean) {
  return useQuery({
    queryKey: ["plans", "operations", id],
    enabled: wanted,
    staleTime: Infinity,
    queryFn: async () =>
      String(
        await unwrap(
          api.GET("/api/v1/plans/{plan_id}/operations", { params: { path: { plan_id: id } }, parseAs: "text" }),
        ),
      ),
  });
}

/** Creates a plan. The same request sent again after a lost answer keeps its key, so that the host is read once. */
export function useCreatePlan() {
  const client = useQueryClient();
  const key = useRef<string | null>(null);
  return useMutation({
    mutationFn: (body: NewPlan) => {
      key.current ??= newKey();
      return unwrap(api.POST("/api/v1/plans", { body, params: { header: { "Idempotency-Key": key.current } } }));
    },
    onSuccess: (plan) => {
      key.current = null;
      client.setQueryData(["plans", "one", plan.id], plan);
      void client.invalidateQueries({ queryKey: ["plans", "of"] });
    },
  });
}
