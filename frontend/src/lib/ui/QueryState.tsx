import { Skeleton, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { ProblemNotice } from "./ProblemNotice";
import { StaleNote } from "./StaleNote";

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
      {error !== null && error !== undefined && <StaleNote since={query.dataUpdatedAt} error={error} />}
      {isEmpty?.(data) ? empty : children(data)}
    </>
  );
}
