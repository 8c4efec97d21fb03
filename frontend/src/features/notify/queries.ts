import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import type { components } from "@/lib/api/schema";
import { usePages } from "@/lib/api/usePages";
import type { LogFilters } from "./filters";

const EVERY_MS = 5_000;
const SOON_MS = 1_000;
const PAGE = 100;
type Schemas = components["schemas"];

export function useWebhooks() {
  return useQuery({
    queryKey: ["webhooks"],
    queryFn: () => unwrap(api.GET("/api/v1/webhooks", { params: { query: { limit: PAGE } } })),
    refetchInterval: EVERY_MS,
  });
}

export function useDeliveries(id: string, { state, event, q }: LogFilters) {
  return usePages(
    ["webhooks", id, "deliveries", { state, event, q }],
    (cursor) =>
      unwrap(
        api.GET("/api/v1/webhooks/{webhook_id}/deliveries", {
          params: { path: { webhook_id: id }, query: { limit: PAGE, cursor, state, event, q } },
        }),
      ),
    EVERY_MS,
  );
}

/** One delivery with its body; fetched again until it is delivered or has failed. */
export function useDelivery(webhookId: string, deliveryId: string) {
  return useQuery({
    queryKey: ["webhooks", webhookId, "delivery", deliveryId],
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}", {
          params: { path: { webhook_id: webhookId, delivery_id: deliveryId } },
        }),
      ),
    refetchInterval: (query) =>
      query.state.data === undefined || query.state.data.state === "pending" ? SOON_MS : false,
  });
}

function useWebhookMutation<Input, Output>(mutationFn: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({ mutationFn, onSettled: () => client.invalidateQueries({ queryKey: ["webhooks"] }) });
}

export const useCreateWebhook = () =>
  useWebhookMutation((body: Schemas["NewWebhook"]) => unwrap(api.POST("/api/v1/webhooks", { body })));

export const useChangeWebhook = () =>
  useWebhookMutation(({ id, change }: { id: string; change: Schemas["WebhookChange"] }) =>
    unwrap(api.PATCH("/api/v1/webhooks/{webhook_id}", { params: { path: { webhook_id: id } }, body: change })),
  );

export const useDeleteWebhook = () =>
  useWebhookMutation((id: string) =>
    unwrap(api.DELETE("/api/v1/webhooks/{webhook_id}", { params: { path: { webhook_id: id } } })),
  );

export const useTestWebhook = () =>
  useWebhookMutation((id: string) =>
    unwrap(api.POST("/api/v1/webhooks/{webhook_id}/test", { params: { path: { webhook_id: id } } })),
  );

export const useReplayDelivery = (webhookId: string) =>
  useWebhookMutation((deliveryId: string) =>
    unwrap(
      api.POST("/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/replay", {
        params: { path: { webhook_id: webhookId, delivery_id: deliveryId } },
      }),
    ),
  );

export const useReplayDeadLetters = () =>
  useWebhookMutation((webhookId: string) =>
    unwrap(api.POST("/api/v1/webhooks/dead-letters/replay", { body: { webhook_id: webhookId } })),
  );
