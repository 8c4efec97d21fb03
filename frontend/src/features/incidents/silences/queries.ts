import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import type { Matcher, NewSilence, Silence } from "@/lib/api/types";
import { usePages } from "@/lib/api/usePages";
import { newKey } from "@/lib/orderKey";

const PAGE = 50;
const EVERY_MS = 15_000;

export function useSilences(state: Silence["state"] | undefined) {
  return usePages(
    ["silences", state],
    (cursor) =>
      unwrap(api.GET("/api/v1/silences", { params: { query: { state: state && [state], limit: PAGE, cursor } } })),
    EVERY_MS,
  );
}

export function useSilence(id: string | null) {
  return useQuery({
    queryKey: ["silences", "one", id],
    enabled: id !== null,
    queryFn: () => unwrap(api.GET("/api/v1/silences/{silence_id}", { params: { path: { silence_id: id ?? "" } } })),
  });
}

/** What the matchers would silence now. Asked only for matchers that are complete. */
export function usePreview(matchers: readonly Matcher[]) {
  return useQuery({
    queryKey: ["silences", "preview", matchers],
    enabled: matchers.length > 0,
    queryFn: () => unwrap(api.POST("/api/v1/silences/preview", { body: { matchers: [...matchers] } })),
    placeholderData: keepPreviousData,
    retry: false,
  });
}

export type SilenceOrder =
  | { kind: "create"; body: NewSilence }
  | { kind: "change"; id: string; body: { matchers: Matcher[]; starts_at: string; ends_at: string; reason: string } }
  | { kind: "end"; id: string };

export function useChangeSilence() {
  const client = useQueryClient();
  return useMutation<unknown, Error, SilenceOrder>({
    mutationFn: (order) => {
      if (order.kind === "create")
        return unwrap(
          api.POST("/api/v1/silences", { body: order.body, params: { header: { "Idempotency-Key": newKey() } } }),
        );
      const params = { path: { silence_id: order.id } };
      if (order.kind === "end") return unwrap(api.DELETE("/api/v1/silences/{silence_id}", { params }));
      return unwrap(api.PATCH("/api/v1/silences/{silence_id}", { params, body: order.body }));
    },
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ["silences"] });
      void client.invalidateQueries({ queryKey: ["incidents"] });
    },
  });
}
