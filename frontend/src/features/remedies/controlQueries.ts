import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";

const EVERY_MS = 5_000;
const KEY = ["remedies", "control"];

/** What holds remedies back: stop, limits, breakers. */
export function useControl() {
  return useQuery({ queryKey: KEY, queryFn: () => unwrap(api.GET("/api/v1/remedy-control")), refetchInterval: EVERY_MS });
}

export type ControlChange = { kind: "stop"; reason: string } | { kind: "resume" } | { kind: "reset"; action: string };

function send(change: ControlChange) {
  switch (change.kind) {
    case "stop":
      return unwrap(api.POST("/api/v1/remedy-control/stop", { body: { reason: change.reason } }));
    case "resume":
      return unwrap(api.POST("/api/v1/remedy-control/resume"));
    case "reset":
      return unwrap(api.POST("/api/v1/remedy-control/breakers/{action}/reset", { params: { path: { action: change.action } } }));
  }
}

export function useChangeControl() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSuccess: (control) => {
      client.setQueryData(KEY, control);
      void client.invalidateQueries({ queryKey: ["remedies", "of"] });
    },
  });
}
