import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import type { Policy, PolicyBacktestRequest, PolicyBindings, PolicyDefinition } from "@/lib/api/types";
import { usePages } from "@/lib/api/usePages";
import { type RangeSearch, toInterval } from "@/lib/time/range";

const LIST_EVERY_MS = 15_000;
const ONE_EVERY_MS = 5_000;
const SERIES_EVERY_MS = 30_000;
const PAGE = 50;

export function usePolicies() {
  return useQuery({
    queryKey: ["policies"],
    queryFn: async () => (await unwrap(api.GET("/api/v1/policies"))).items,
    refetchInterval: LIST_EVERY_MS,
  });
}

export function usePolicy(id: string | null) {
  return useQuery({
    queryKey: ["policies", "one", id],
    enabled: id !== null,
    queryFn: () => unwrap(api.GET("/api/v1/policies/{policy_id}", { params: { path: { policy_id: id ?? "" } } })),
    refetchInterval: ONE_EVERY_MS,
  });
}

export function useDelivery() {
  return useQuery({
    queryKey: ["policies", "delivery"],
    queryFn: () => unwrap(api.GET("/api/v1/policies/delivery")),
    refetchInterval: ONE_EVERY_MS,
  });
}

export function useVocabulary() {
  return useQuery({
    queryKey: ["policies", "vocabulary"],
    queryFn: () => unwrap(api.GET("/api/v1/policies/vocabulary")),
    staleTime: Infinity,
    gcTime: Infinity,
  });
}

/** What a formula means. A formula never changes its meaning, so an answer is kept. */
export function useCheck(bindings: PolicyBindings | undefined) {
  const { formula = "", subject = "rnic", propositions = {}, timer = null } = bindings ?? {};
  return useQuery({
    queryKey: ["policies", "check", formula, subject, propositions, timer],
    enabled: bindings !== undefined,
    queryFn: () => unwrap(api.POST("/api/v1/policies/check", { body: { formula, subject, propositions, timer } })),
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    retry: false,
  });
}

export function useRun(formula: string, steps: readonly (readonly string[])[], enabled: boolean) {
  return useQuery({
    queryKey: ["policies", "run", formula, steps],
    enabled,
    queryFn: () =>
      unwrap(api.POST("/api/v1/policies/run", { body: { formula, steps: steps.map((step) => [...step]) } })),
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    retry: false,
  });
}

export function useBacktest() {
  return useMutation({
    mutationFn: (body: PolicyBacktestRequest) => unwrap(api.POST("/api/v1/policies/backtest", { body })),
  });
}

export function usePolicySeries(id: string, range: RangeSearch) {
  return useQuery({
    queryKey: ["policies", "series", id, range],
    queryFn: () => {
      const { from, to } = toInterval(range, Date.now());
      return unwrap(
        api.GET("/api/v1/policies/{policy_id}/series", { params: { path: { policy_id: id }, query: { from, to } } }),
      );
    },
    placeholderData: keepPreviousData,
    refetchInterval: SERIES_EVERY_MS,
  });
}

export function useRnicPolicies(host: string, pci: string, range: RangeSearch) {
  const { live } = toInterval(range, 0);
  return useQuery({
    queryKey: ["policies", "rnic", host, pci, range],
    queryFn: () => {
      const { from, to } = toInterval(range, Date.now());
      return unwrap(
        api.GET("/api/v1/rnics/{host}/{pci}/policies", { params: { path: { host, pci }, query: { from, to } } }),
      );
    },
    placeholderData: keepPreviousData,
    refetchInterval: live ? SERIES_EVERY_MS : false,
  });
}

export function useViolations(id: string) {
  return usePages(
    ["policies", "violations", id],
    (cursor) =>
      unwrap(
        api.GET("/api/v1/policies/{policy_id}/violations", {
          params: { path: { policy_id: id }, query: { limit: PAGE, cursor } },
        }),
      ),
    LIST_EVERY_MS,
  );
}

export function useViolation(policy: string, id: string) {
  return useQuery({
    queryKey: ["policies", "violation", policy, id],
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/policies/{policy_id}/violations/{violation_id}", {
          params: { path: { policy_id: policy, violation_id: id } },
        }),
      ),
    staleTime: Infinity,
  });
}

export type PolicyOrder =
  | { kind: "create"; id: string; definition: PolicyDefinition }
  | { kind: "save"; id: string; definition: PolicyDefinition; message: string; version: number }
  | { kind: "enable"; id: string; number?: number; version: number }
  | { kind: "disable" | "delete"; id: string; version: number };

function send(order: PolicyOrder): Promise<Policy | Record<string, never>> {
  if (order.kind === "create")
    return unwrap(api.POST("/api/v1/policies", { body: { id: order.id, ...order.definition } }));
  const params = { path: { policy_id: order.id }, header: { "If-Match": `"${order.version}"` } };
  if (order.kind === "save")
    return unwrap(
      api.PUT("/api/v1/policies/{policy_id}", {
        params,
        body: { ...order.definition, message: order.message || null },
      }),
    );
  if (order.kind === "enable")
    return unwrap(api.POST("/api/v1/policies/{policy_id}/enable", { params, body: { version: order.number ?? null } }));
  if (order.kind === "disable") return unwrap(api.POST("/api/v1/policies/{policy_id}/disable", { params }));
  return unwrap(api.DELETE("/api/v1/policies/{policy_id}", { params })) as Promise<Record<string, never>>;
}

/** One change of one policy; what else is shown of policies is fetched again. */
export function useChangePolicy() {
  const client = useQueryClient();
  return useMutation<Policy | Record<string, never>, Error, PolicyOrder>({
    mutationFn: send,
    onSettled: (_answer, _error, order) => {
      if (order.kind === "delete") client.removeQueries({ queryKey: ["policies", "one", order.id] });
      for (const key of [
        ["policies", "one"],
        ["policies", "delivery"],
      ])
        void client.invalidateQueries({ queryKey: key });
      void client.invalidateQueries({ queryKey: ["policies"], exact: true });
    },
  });
}
