import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, setCsrfToken, unwrap } from "@/lib/api/client";
import { Problem } from "@/lib/api/problem";
import { leaveTo } from "@/lib/leave";

const KEY = ["session"];

/** Who is signed in; null when no one is. */
export function useSession() {
  return useQuery({
    queryKey: KEY,
    staleTime: Infinity,
    retry: false,
    queryFn: async () => {
      try {
        const session = await unwrap(api.GET("/api/v1/session"));
        setCsrfToken(session.csrf_token ?? null);
        return session;
      } catch (error) {
        if (error instanceof Problem && error.status === 401) return null;
        throw error;
      }
    },
  });
}

/** Whether who is signed in may change anything; a viewer reads only. The server decides, this spares a refusal. */
export function useMayChange(): boolean {
  const role = useSession().data?.user.role;
  return role !== undefined && role !== "viewer";
}

/** Whether who is signed in manages the installation: accounts, agents, where data is sent. */
export function useIsAdmin(): boolean {
  return useSession().data?.user.role === "admin";
}

const METHODS = queryOptions({
  queryKey: ["sign-in-methods"],
  staleTime: Infinity,
  queryFn: () => unwrap(api.GET("/api/v1/session/methods")),
});

/** How people can sign in. */
export function useSignInMethods() {
  return useQuery(METHODS);
}

export function useSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { username: string; password: string; code?: string }) =>
      unwrap(api.POST("/api/v1/session", { body })),
    onSuccess: (session) => {
      setCsrfToken(session.csrf_token ?? null);
      client.setQueryData(KEY, session);
    },
  });
}

/** Ends the session here and, if the account is of a provider, there: the server knows, and sends everybody else back. */
export function useSignOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      await unwrap(api.DELETE("/api/v1/session"));
      return client.ensureQueryData(METHODS).catch(() => null);
    },
    onSuccess: (methods) => {
      if (methods?.single_sign_on) leaveTo("/api/v1/session/oidc/sign-out");
    },
    onSettled: () => {
      setCsrfToken(null);
      client.clear();
      client.setQueryData(KEY, null);
    },
  });
}
