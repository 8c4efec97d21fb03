import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import { newKey } from "@/lib/orderKey";

const KEY = ["views"];

export function useViews() {
  return useQuery({ queryKey: KEY, queryFn: () => unwrap(api.GET("/api/v1/views")), staleTime: 60_000 });
}

export type ViewOrder =
  | { kind: "save"; name: string; query: string; shared: boolean }
  | { kind: "update"; id: string; query: string }
  | { kind: "delete"; id: string };

export function useChangeViews() {
  const client = useQueryClient();
  return useMutation<unknown, Error, ViewOrder>({
    mutationFn: (order) => {
      if (order.kind === "delete")
        return unwrap(api.DELETE("/api/v1/views/{view_id}", { params: { path: { view_id: order.id } } }));
      if (order.kind === "update")
        return unwrap(
          api.PATCH("/api/v1/views/{view_id}", {
            params: { path: { view_id: order.id } },
            body: { query: order.query },
          }),
        );
      const { name, query, shared } = order;
      return unwrap(
        api.POST("/api/v1/views", {
          body: { name, query, shared },
          params: { header: { "Idempotency-Key": newKey() } },
        }),
      );
    },
    onSuccess: () => void client.invalidateQueries({ queryKey: KEY }),
  });
}
