import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";

/** Candidate rules, newest first: all of them, or those from one campaign. */
export function useRules(campaign?: string) {
  return useQuery({
    queryKey: ["lab", "rules", campaign ?? "all"],
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/lab/rules", { params: { query: campaign === undefined ? {} : { campaign_id: campaign } } }),
      ),
  });
}

/** Proposes a cause of a campaign as a rule. */
export function useProposeRule(campaign: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (cause: number) =>
      unwrap(
        api.POST("/api/v1/lab/campaigns/{campaign_id}/rules", {
          params: { path: { campaign_id: campaign } },
          body: { cause },
        }),
      ),
    onSettled: () => void client.invalidateQueries({ queryKey: ["lab", "rules"] }),
  });
}

/** Accepts or rejects a rule, with the reason. */
export function useReviewRule(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ accept, comment }: { accept: boolean; comment: string }) => {
      const request = { params: { path: { rule_id: id } }, body: { comment } };
      return unwrap(
        accept
          ? api.POST("/api/v1/lab/rules/{rule_id}/accept", request)
          : api.POST("/api/v1/lab/rules/{rule_id}/reject", request),
      );
    },
    onSettled: () => void client.invalidateQueries({ queryKey: ["lab", "rules"] }),
  });
}
