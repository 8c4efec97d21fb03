import { Skeleton, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { useTimeFormat } from "../time/ZoneContext";
import { ProblemNotice } from "./ProblemNotice";

/** The part of a query that a panel needs to know. */
export interface QueryLike<T> {
  data: T | undefined;
  error: unknown;
  dataUpdatedAt: number;
  refetch: () => unknown;
}

interface Props<T> {
  query: QueryLike<T>;
  /** Height of the skeleton in lines. */
  lines?: number;
  isEmpty?: (data: T) => boolean;
  empty?: ReactNode;
  children: (data: T) => ReactNode;
}

/** The four states of every panel: loading, error, empty, and data, which may be stale since the last good answer. */
export function QueryState<T>({ query, lines = 4, isEmpty, empty, children }: Props<T>) {
  const { clock } = useTimeFormat();
  const { data, error } = query;
  if (data === undefined) {
    if (error) return <ProblemNotice error={error} onRetry={() => void query.refetch()} />;
    return (
      <Stack gap={8} aria-busy="true" role="status" aria-label="Loading">
        {Array.from({ length: lines }, (_, i) => (
          <Skeleton key={i} height={14} width={`${95 - ((i * 17) % 40)}%`} />
        ))}
      </Stack>
    );
  }
  return (
    <>
      {error !== null && error !== undefined && (
        <Text size="xs" role="status" mb={6} style={{ color: "var(--ww-warn)" }}>
          ▲ Stale since {clock(query.dataUpdatedAt)}: {error instanceof Error ? error.message : "the last update failed"}
        </Text>
      )}
      {isEmpty?.(data) ? empty : children(data)}
    </>
  );
}
