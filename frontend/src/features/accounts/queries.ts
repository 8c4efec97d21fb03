import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import type { components } from "@/lib/api/schema";
import { usePages } from "@/lib/api/usePages";

const PAGE = 100;
type Schemas = components["schemas"];

export const useTokens = () =>
  usePages(["tokens"], (cursor) => unwrap(api.GET("/api/v1/tokens", { params: { query: { limit: PAGE, cursor } } })));

export const useUsers = () =>
  usePages(["users"], (cursor) => unwrap(api.GET("/api/v1/users", { params: { query: { limit: PAGE, cursor } } })));

export const useAudit = (filter: { actor?: string; action?: string }) =>
  usePages(["audit", filter], (cursor) =>
    unwrap(api.GET("/api/v1/audit", { params: { query: { ...filter, limit: PAGE, cursor } } })),
  );

/** A change after which its list is fetched again, whether it succeeded or not. */
function useChangeOf<Input, Output>(list: "tokens" | "users", mutationFn: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({ mutationFn, onSettled: () => client.invalidateQueries({ queryKey: [list] }) });
}

export const useCreateToken = () =>
  useChangeOf("tokens", (body: Schemas["NewToken"]) => unwrap(api.POST("/api/v1/tokens", { body })));

export const useDeleteToken = () =>
  useChangeOf("tokens", (id: string) =>
    unwrap(api.DELETE("/api/v1/tokens/{token_id}", { params: { path: { token_id: id } } })),
  );

export const useCreateUser = () =>
  useChangeOf("users", (body: Schemas["NewUser"]) => unwrap(api.POST("/api/v1/users", { body })));

export const useResetSecondFactor = () =>
  useChangeOf("users", (id: string) =>
    unwrap(api.DELETE("/api/v1/users/{user_id}/second-factor", { params: { path: { user_id: id } } })),
  );

export const useChangeUser = () =>
  useChangeOf("users", ({ id, change }: { id: string; change: Schemas["UserChange"] }) =>
    unwrap(api.PATCH("/api/v1/users/{user_id}", { params: { path: { user_id: id } }, body: change })),
  );
