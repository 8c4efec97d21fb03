import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";

const EVERY_MS = 5_000;
export const CONTROL_KEY = ["remedies", "control"];

/** What holds remedies back: stop, limits, breakers. */
export function useControl() {
  return useQuery({
    queryKey: CONTROL_KEY,
    queryFn: () => unwrap(api.GET("/api/v1/remedy-control")),
    refetchInterval: EVERY_MS,
  });
}
