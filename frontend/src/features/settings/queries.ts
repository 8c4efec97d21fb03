import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import type { components } from "@/lib/api/schema";

const PAGE = 100;
type Schemas = components["schemas"];

export function useTokens() {
  return useQuery({ queryKey: ["tokens"], queryFn: () => unwrap(api.GET("/api/v1/tokens", { params: { query: { limit: PAGE } } })) });
}

export function useCreateToken() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas["NewToken"]) => unwrap(api.POST("/api/v1/tokens", { body })),
    onSuccess: () => client.invalidateQueries({ queryKey: ["tokens"] }),
  });
}

export function useDeleteToken() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => unwrap(api.DELETE("/api/v1/tokens/{token_id}", { params: { path: { token_id: id } } })),
    onSettled: () => client.invalidateQueries({ queryKey: ["tokens"] }),
  });
}

export function useUsers() {
  return useQuery({ queryKey: ["users"], queryFn: () => unwrap(api.GET("/api/v1/users", { params: { query: { limit: PAGE } } })) });
}

export function useCreateUser() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas["NewUser"]) => unwrap(api.POST("/api/v1/users", { body })),
    onSuccess: () => client.invalidateQueries({ queryKey: ["users"] }),
  });
}

export function useChangeUser() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, change }: { id: string; change: Schemas["UserChange"] }) => unwrap(api.PATCH("/api/v1/users/{user_id}", { params: { path: { user_id: id } }, body: change })),
    onSettled: () => client.invalidateQueries({ queryKey: ["users"] }),
  });
}

export function useAudit(filter: { actor?: string; action?: string }) {
  return useInfiniteQuery({
    queryKey: ["audit", filter],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) => unwrap(api.GET("/api/v1/audit", { params: { query: { ...filter, limit: PAGE, cursor: pageParam } } })),
    getNextPageParam: (page) => page.next_cursor ?? null,
    placeholderData: keepPreviousData,
  });
}
