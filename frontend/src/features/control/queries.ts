import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import { CONTROL_KEY } from "@/shared/remedies/control";

export type ControlChange = { kind: "stop"; reason: string } | { kind: "resume" } | { kind: "reset"; action: string };

function send(change: ControlChange) {
  switch (change.kind) {
    case "stop":
      return unwrap(api.POST("/api/v1/remedy-control/stop", { body: { reason: change.reason } }));
    case "resume":
      return unwrap(api.POST("/api/v1/remedy-control/resume"));
    case "reset":
      return unwrap(
        api.POST("/api/v1/remedy-control/breakers/{action}/reset", { params: { path: { action: change.action } } }),
      );
  }
}

export function useChangeControl() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSuccess: (control) => {
      client.setQueryData(CONTROL_KEY, control);
      void client.invalidateQueries({ queryKey: ["remedies", "of"] });
    },
  });
}
