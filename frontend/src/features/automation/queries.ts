import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import type { NewAutomationRule } from "@/lib/api/types";

const EVERY_MS = 5_000;
const KEY = ["remedies", "automation"];
const SHOWN_RUNS = 10;

/** Rules of the automatic mode. */
export function useRules() {
  return useQuery({
    queryKey: KEY,
    queryFn: () => unwrap(api.GET("/api/v1/automation-rules")),
    refetchInterval: EVERY_MS,
  });
}

/** Where a rule acted lately, newest first. */
export function useRuns(ruleId: string) {
  return useQuery({
    queryKey: [...KEY, "runs", ruleId],
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/automation-rules/{rule_id}/runs", {
          params: { path: { rule_id: ruleId }, query: { limit: SHOWN_RUNS } },
        }),
      ),
    refetchInterval: EVERY_MS,
  });
}

export type RuleChange =
  { kind: "create"; body: NewAutomationRule } | { kind: "enable" | "disable" | "delete"; id: string };

async function send(change: RuleChange): Promise<void> {
  if (change.kind === "create") {
    await unwrap(api.POST("/api/v1/automation-rules", { body: change.body }));
    return;
  }
  const params = { path: { rule_id: change.id } };
  if (change.kind === "enable") await unwrap(api.POST("/api/v1/automation-rules/{rule_id}/enable", { params }));
  else if (change.kind === "disable") await unwrap(api.POST("/api/v1/automation-rules/{rule_id}/disable", { params }));
  else await unwrap(api.DELETE("/api/v1/automation-rules/{rule_id}", { params }));
}

export function useChangeRules() {
  const client = useQueryClient();
  return useMutation({ mutationFn: send, onSuccess: () => client.invalidateQueries({ queryKey: KEY }) });
}
