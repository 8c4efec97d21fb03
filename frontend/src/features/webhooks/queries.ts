import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import type { components } from "@/lib/api/schema";
import { usePages } from "@/lib/api/usePages";

const EVERY_MS = 5_000;
const PAGE = 100;
type Schemas = components["schemas"];

export function useWebhooks() {
  return useQuery({ queryKey: ["webhooks"], queryFn: () => unwrap(api.GET("/api/v1/webhooks", { params: { query: { limit: PAGE } } })), refetchInterval: EVERY_MS });
}

export function useDeliveries(id: string) {
  return usePages(
    ["webhooks", id, "deliveries"],
    (cursor) => unwrap(api.GET("/api/v1/webhooks/{webhook_id}/deliveries", { params: { path: { webhook_id: id }, query: { limit: PAGE, cursor } } })),
    EVERY_MS,
  );
}

function useWebhookMutation<Input, Output>(mutationFn: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({ mutationFn, onSettled: () => client.invalidateQueries({ queryKey: ["webhooks"] }) });
}

export const useCreateWebhook = () => useWebhookMutation((body: Schemas["NewWebhook"]) => unwrap(api.POST("/api/v1/webhooks", { body })));

export const useChangeWebhook = () =>
  useWebhookMutation(({ id, change }: { id: string; change: Schemas["WebhookChange"] }) =>
    unwrap(api.PATCH("/api/v1/webhooks/{webhook_id}", { params: { path: { webhook_id: id } }, body: change })),
  );

export const useDeleteWebhook = () => useWebhookMutation((id: string) => unwrap(api.DELETE("/api/v1/webhooks/{webhook_id}", { params: { path: { webhook_id: id } } })));

export const useTestWebhook = () => useWebhookMutation((id: string) => unwrap(api.POST("/api/v1/webhooks/{webhook_id}/test", { params: { path: { webhook_id: id } } })));

export const useRetryDelivery = (webhookId: string) =>
  useWebhookMutation((deliveryId: string) =>
    unwrap(api.POST("/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/retry", { params: { path: { webhook_id: webhookId, delivery_id: deliveryId } } })),
  );
