import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { api, unwrap } from "@/lib/api/client";
import type { NewCampaign } from "@/lib/api/types";
import { usePages } from "@/lib/api/usePages";
import { useStates } from "@/lib/api/useStates";
import { newKey } from "@/lib/orderKey";
import { isOver } from "@/lib/states";
import type { LabFilters } from "./search";

const RUNNING_EVERY_MS = 1_500;
const EVERY_MS = 5_000;
const DEVICES_EVERY_MS = 10_000;
const TESTS_A_PAGE = 100;

/** The devices that runners offer. */
export function useLabDevices() {
  return useQuery({
    queryKey: ["lab", "devices"],
    refetchInterval: DEVICES_EVERY_MS,
    queryFn: () => unwrap(api.GET("/api/v1/lab/devices")),
  });
}

/** Campaigns, newest first. */
export function useCampaigns(filters: LabFilters) {
  return usePages(
    ["lab", "campaigns", filters],
    (cursor) =>
      unwrap(
        api.GET("/api/v1/lab/campaigns", {
          params: { query: { limit: 50, ...filters, ...(cursor ? { cursor } : {}) } },
        }),
      ),
    EVERY_MS,
  );
}

/** One campaign, fetched often while it runs. */
export function useCampaign(id: string) {
  const states = useStates("campaign");
  return useQuery({
    queryKey: ["lab", "campaign", id],
    queryFn: () => unwrap(api.GET("/api/v1/lab/campaigns/{campaign_id}", { params: { path: { campaign_id: id } } })),
    refetchInterval: (query) => (query.state.data && isOver(states, query.state.data.state) ? false : RUNNING_EVERY_MS),
  });
}

/** Tests and resets of a campaign in their order. */
export function useCampaignTests(id: string, bad: boolean, running: boolean) {
  return usePages(
    // Once more at the end: the last tests arrive together with it.
    ["lab", "tests", id, bad, running],
    (cursor) =>
      unwrap(
        api.GET("/api/v1/lab/campaigns/{campaign_id}/tests", {
          params: { path: { campaign_id: id }, query: { bad, limit: TESTS_A_PAGE, ...(cursor ? { cursor } : {}) } },
        }),
      ),
    running ? (pages) => (pages > 1 ? false : EVERY_MS) : false,
  );
}

/** Starts a campaign. The same request sent again after a lost answer keeps its key, so that one campaign runs. */
export function useStartCampaign() {
  const client = useQueryClient();
  const key = useRef<string | null>(null);
  return useMutation({
    mutationFn: (body: NewCampaign) => {
      key.current ??= newKey();
      return unwrap(
        api.POST("/api/v1/lab/campaigns", { body, params: { header: { "Idempotency-Key": key.current } } }),
      );
    },
    onSettled: () => {
      key.current = null;
    },
    onSuccess: (campaign) => {
      client.setQueryData(["lab", "campaign", campaign.id], campaign);
      void client.invalidateQueries({ queryKey: ["lab", "campaigns"] });
    },
  });
}

/** Stops one campaign. */
export function useStopCampaign(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () =>
      unwrap(api.POST("/api/v1/lab/campaigns/{campaign_id}/stop", { params: { path: { campaign_id: id } }, body: {} })),
    onSettled: () => void client.invalidateQueries({ queryKey: ["lab"] }),
  });
}

/** Approves a campaign, with or without a comment, or rejects it with a reason. */
export function useDecideCampaign(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ comment, reject }: { comment?: string; reject?: string }) => {
      const params = { path: { campaign_id: id } };
      return unwrap(
        reject === undefined
          ? api.POST("/api/v1/lab/campaigns/{campaign_id}/approve", { params, body: comment ? { comment } : null })
          : api.POST("/api/v1/lab/campaigns/{campaign_id}/reject", { params, body: { reason: reject } }),
      );
    },
    onSettled: () => void client.invalidateQueries({ queryKey: ["lab"] }),
  });
}

/** The emergency stop: every campaign. */
export function useStopAll() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(api.POST("/api/v1/lab/stop", { body: {} })),
    onSettled: () => void client.invalidateQueries({ queryKey: ["lab"] }),
  });
}

export function useAttach(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { incident_id?: string; causes: number[] }) =>
      unwrap(api.POST("/api/v1/lab/campaigns/{campaign_id}/attach", { params: { path: { campaign_id: id } }, body })),
    onSuccess: () => void client.invalidateQueries({ queryKey: ["incidents"] }),
  });
}

export function useWriteProfile(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { causes: number[] }) =>
      unwrap(api.POST("/api/v1/lab/campaigns/{campaign_id}/profile", { params: { path: { campaign_id: id } }, body })),
    onSuccess: () => void client.invalidateQueries({ queryKey: ["profiles"] }),
  });
}
