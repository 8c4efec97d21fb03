import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "./client";

/** Labels and units of symptoms, causes, walls and fields; they change with a release only. */
export function useCatalogue() {
  return useQuery({ queryKey: ["catalogue"], queryFn: () => unwrap(api.GET("/api/v1/catalogue")), staleTime: Infinity });
}
