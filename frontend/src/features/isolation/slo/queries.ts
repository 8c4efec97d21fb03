import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import type { NewSloClass, SloRule } from "@/lib/api/types";

const LIST_EVERY_MS = 30_000;
const CLASSES = ["isolation", "slo-classes"];
const RULES = ["isolation", "slo-rules"];

export function useSloClasses() {
  return useQuery({
    queryKey: CLASSES,
    queryFn: () => unwrap(api.GET("/api/v1/isolation/slo-classes")),
    refetchInterval: LIST_EVERY_MS,
  });
}

export function useSloRules() {
  return useQuery({
    queryKey: RULES,
    queryFn: () => unwrap(api.GET("/api/v1/isolation/slo-rules")),
    refetchInterval: LIST_EVERY_MS,
  });
}

/** Which VF would get which promise; null asks for nothing. */
export function usePreview(rules: readonly SloRule[] | null) {
  return useQuery({
    queryKey: ["isolation", "slo-preview", rules],
    enabled: rules !== null,
    queryFn: () => unwrap(api.POST("/api/v1/isolation/slo-rules/preview", { body: { rules: [...(rules ?? [])] } })),
    placeholderData: keepPreviousData,
    retry: false,
  });
}

export type ClassOrder =
  | { kind: "create"; body: NewSloClass }
  | { kind: "update"; body: NewSloClass; version: number }
  | { kind: "delete"; name: string; version: number };

function sendClass(order: ClassOrder): Promise<unknown> {
  if (order.kind === "create") return unwrap(api.POST("/api/v1/isolation/slo-classes", { body: order.body }));
  const header = { "If-Match": `"${order.version}"` };
  if (order.kind === "delete")
    return unwrap(
      api.DELETE("/api/v1/isolation/slo-classes/{name}", { params: { path: { name: order.name }, header } }),
    );
  const { name, ...body } = order.body;
  return unwrap(api.PUT("/api/v1/isolation/slo-classes/{name}", { params: { path: { name }, header }, body }));
}

/** One change of one class; previews and pages that show promises are asked for again. */
export function useChangeClass() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: sendClass,
    onSettled: () => client.invalidateQueries({ queryKey: ["isolation"] }),
  });
}

export function useSaveRules() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ rules, version }: { rules: readonly SloRule[]; version: number }) =>
      unwrap(
        api.PUT("/api/v1/isolation/slo-rules", {
          params: { header: { "If-Match": `"${version}"` } },
          body: { rules: [...rules] },
        }),
      ),
    onSuccess: (saved) => {
      client.setQueryData(RULES, saved);
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["isolation"] }),
  });
}
